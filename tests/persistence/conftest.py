import io
import json
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier, save
from calibrant.datasets import make_waveform

INFO = "calibrant.json"


@pytest.fixture(scope="session")
def waveform():
    """Training rows, awkward labels and new rows."""
    X, y = make_waveform(90, random_state=0)
    labels = np.array(["<b>one</b>", "=cmd()", "שלוש 🎲"])[y]
    return X, labels, make_waveform(40, random_state=1)[0]


@pytest.fixture
def saved(waveform, tmp_path):
    """A saved model."""
    path = tmp_path / "model.skops"
    X, y, _ = waveform
    model = CalibratedClassifier(GaussianNB(), method="matrix", cv=2, random_state=0)
    save(model.fit(X, y), path)
    return path


@pytest.fixture(scope="session")
def rewrite():
    """Change the members of a saved file; ``change`` maps {name: bytes} to {name: bytes}."""

    def rewrite(path, change):
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, content in change(members).items():
                archive.writestr(name, content)
        path.write_bytes(buffer.getvalue())

    return rewrite


@pytest.fixture(scope="session")
def change_info():
    """Make a change for ``rewrite`` that sets fields of the description."""

    def change_info(**changed):
        def change(members):
            return members | {INFO: json.dumps(json.loads(members[INFO]) | changed).encode()}

        return change

    return change_info


@pytest.fixture
def save_unchecked(saved):
    """Write any object to a file that otherwise looks as if calibrant had saved it."""
    info = zipfile.ZipFile(saved).read(INFO)

    def save_unchecked(model, path):
        skops.io.dump(model, path)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(INFO, info)

    return save_unchecked
