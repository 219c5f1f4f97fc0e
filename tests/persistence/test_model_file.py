from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier, load, save
from calibrant.persistence import read_info
from calibrant.persistence.model_file import is_model_file

INFO = "calibrant.json"


def test_a_file_describes_its_model(waveform, saved):
    _, y, _ = waveform
    info = read_info(saved)
    assert info.model == "CalibratedClassifier"
    assert info.classes == tuple(np.unique(y))
    assert info.features == ()
    assert info.versions["scikit-learn"] == sklearn.__version__
    assert info.versions["numpy"] == np.__version__
    assert set(info.versions) == {"calibrant", "scikit-learn", "numpy", "scipy", "skops", "python"}


def test_notes_and_feature_names_are_kept(waveform, tmp_path):
    X, y, _ = waveform
    names = [f"<x>{number}" for number in range(X.shape[1])]
    model = CalibratedClassifier(GaussianNB(), cv=2).fit(pd.DataFrame(X, columns=names), y)
    save(model, tmp_path / "model.skops", training={"rows": 90, "by": ["me", None]})
    info = read_info(tmp_path / "model.skops")
    assert info.features == tuple(names)
    assert info.training == {"rows": 90, "by": ["me", None]}


def test_notes_that_could_not_be_loaded_are_not_saved(saved):
    model, content = load(saved), saved.read_bytes()
    with pytest.raises(ValueError, match="notes in training must not have control characters"):
        save(model, saved, training={"source": ["plain", "\x1b[2J"]})
    assert saved.read_bytes() == content


@pytest.mark.parametrize(
    ("version", "saved_by", "message"),
    [
        (2, "9.0", r"the newer format 2\. Upgrade to calibrant 9\.0"),
        (0, "0.0.1", r"the older format 0\. Fit .* or load it with calibrant 0\.0\.1"),
    ],
)
def test_files_of_another_format_are_refused_with_a_remedy(
    saved, rewrite, change_info, version, saved_by, message
):
    rewrite(saved, change_info(format=version, versions={"calibrant": saved_by}, extra="new"))
    for read in (load, read_info):
        with pytest.raises(ValueError, match=message):
            read(saved)


@pytest.mark.parametrize(
    "info",
    [
        b"",
        b"[]",
        b"{}",
        b"null",
        b'{"format": 1}',
        b"[" * 100_000,
        b'{"format": true}',
        b'{"format": 1, "versions": 3}',
    ],
)
def test_invalid_descriptions_are_refused(saved, rewrite, info):
    rewrite(saved, lambda members: members | {INFO: info})
    for read in (load, read_info):
        with pytest.raises(ValueError, match="must be a file saved by calibrant"):
            read(saved)


@pytest.mark.parametrize(
    "fields",
    [{"training": 3}, {"versions": "1.0"}, {"classes": 1}, {"features": None}, {"extra": 1}],
    ids=str,
)
def test_changed_descriptions_are_refused(saved, rewrite, change_info, fields):
    rewrite(saved, change_info(**fields))
    for read in (load, read_info):
        with pytest.raises(ValueError, match="has been changed"):
            read(saved)


def test_only_model_files_are_taken_for_models(tmp_path):
    save(GaussianNB().fit([[0.0], [1.0], [2.0]], [0, 1, 1]), tmp_path / "model.skops")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    with ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    assert is_model_file(tmp_path / "model.skops")
    for name in ("table.csv", "other.zip", "none.skops", ""):
        assert not is_model_file(tmp_path / name)
