"""Archives that inflate beyond what they declare, or that two readers understand differently."""

import io
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from calibrant import load, save


def array_member(members):
    return next(name for name in members if name.endswith(".npy"))


@pytest.mark.parametrize("n_bytes", [1, 10**8])
def test_members_that_inflate_beyond_their_arrays_are_refused(saved, rewrite, n_bytes):
    def inflate(members):
        name = array_member(members)
        return members | {name: members[name] + bytes(n_bytes)}

    rewrite(saved, inflate)
    with pytest.raises(ValueError, match="does not have its declared size"):
        load(saved)


def test_archives_that_inflate_beyond_what_models_take_are_refused(saved):
    with zipfile.ZipFile(saved, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("1.npy", bytes(200 * 2**20))
    with pytest.raises(ValueError, match=r"inflates to \d+ bytes"):
        load(saved)


def test_huge_headers_are_refused_without_allocating(saved, rewrite):
    def forge(members):
        name = array_member(members)
        forged = members[name].replace(b"'shape': (", b"'shape': (99999999999, ", 1)
        assert forged != members[name]
        return members | {name: forged}

    rewrite(saved, forge)
    with pytest.raises(ValueError, match="damaged or has been changed"):
        load(saved)


def test_of_repeated_members_one_is_checked_and_used(waveform, saved):
    content = saved.read_bytes()
    expected = load(saved).predict_proba(waveform[2])
    buffer = io.BytesIO(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the repeated name
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.writestr("schema.json", b"{}")
    saved.write_bytes(buffer.getvalue())
    with pytest.raises(ValueError, match="damaged or has been changed"):
        load(saved)
    saved.write_bytes(content)
    assert (load(saved).predict_proba(waveform[2]) == expected).all()


def test_two_objects_with_one_number_are_refused(saved, rewrite):
    import json

    def forge(members):
        schema = json.loads(members["schema.json"])
        attributes = schema["content"]["content"]
        attributes["classes_"]["__id__"] = attributes["class_count_"]["__id__"]
        return members | {"schema.json": json.dumps(schema).encode()}

    rewrite(saved, forge)
    with pytest.raises(ValueError, match="has the number of another object"):
        load(saved)


def test_honest_models_that_compress_very_well_can_be_loaded(tmp_path):
    # The rows are 60 MB of zeros, of which a compressed file would take about a thousandth.
    rows = np.zeros((37_500, 200))
    rows[1, 0] = 1.0
    model = KNeighborsClassifier(1, algorithm="brute").fit(rows, rows[:, 0].astype(int))
    save(model, tmp_path / "model.skops", training={"zeros": "0" * 10**6})
    loaded = load(tmp_path / "model.skops")
    assert loaded.predict(rows[:2]).tolist() == [0, 1]


def test_models_are_compressed(saved):
    with zipfile.ZipFile(saved) as archive:
        arrays = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        assert arrays
        assert all(info.compress_type == zipfile.ZIP_DEFLATED for info in arrays)
