import os
import pickle
import warnings

import numpy as np
import pytest
import skops.io
from sklearn.naive_bayes import GaussianNB

from calibrant import load
from calibrant.exceptions import CalibrationWarning


class Bomb:
    """An object whose pickle runs code when it is loaded."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


def test_a_pickle_is_refused_and_not_run(tmp_path):
    marker = tmp_path / "was run"
    file = tmp_path / "model.skops"
    file.write_bytes(pickle.dumps(Bomb(marker)))
    with pytest.raises(ValueError, match="must be a file saved by calibrant"):
        load(file)
    assert not marker.exists()
    pickle.loads(file.read_bytes())
    assert marker.exists()  # the bomb was real


def test_skops_files_of_other_programs_are_refused(waveform, tmp_path):
    X, y, _ = waveform
    file = tmp_path / "model.skops"
    skops.io.dump(GaussianNB().fit(X, y), file)
    with pytest.raises(ValueError, match="must be a file saved by calibrant"):
        load(file)


def test_a_file_without_an_estimator_is_refused(save_unchecked, tmp_path):
    save_unchecked("text", tmp_path / "text.skops")
    with pytest.raises(ValueError, match="type str, which is not supported"):
        load(tmp_path / "text.skops")


def test_missing_files_and_folders_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "none.skops"):
        with pytest.raises(ValueError, match="must be a file saved by calibrant"):
            load(path)


def test_truncated_files_are_refused_in_one_line(saved):
    content = saved.read_bytes()
    for size in (0, 200, len(content) // 2, len(content) - 100):
        saved.write_bytes(content[:size])
        with pytest.raises(ValueError, match="damaged") as raised:
            load(saved)
        assert "\n" not in str(raised.value)


def test_a_changed_byte_is_refused_or_changes_nothing(waveform, saved):
    _, _, new = waveform
    content = saved.read_bytes()
    expected = load(saved).predict_proba(new)
    n_refused = 0
    places = range(0, len(content), 101)
    for place in places:
        saved.write_bytes(content[:place] + bytes([content[place] ^ 64]) + content[place + 1 :])
        try:
            np.testing.assert_array_equal(load(saved).predict_proba(new), expected)
        except ValueError:
            n_refused += 1
    assert n_refused > len(places) / 2


@pytest.mark.parametrize("schema", [b"", b"[]", b"{}", b"null", b"[" * 100_000])
def test_a_file_with_another_schema_is_refused(saved, rewrite, schema):
    rewrite(saved, lambda members: members | {"schema.json": schema})
    with pytest.raises(ValueError, match="damaged or has been changed"):
        load(saved)


def test_loading_with_another_version_of_scikit_learn_warns(saved, rewrite, change_info):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(saved)
    rewrite(saved, change_info(versions={"calibrant": "0.1", "scikit-learn": "1.0.2"}))
    with pytest.warns(CalibrationWarning, match=r"scikit-learn 1\.0\.2.* Fit the model again"):
        load(saved)
