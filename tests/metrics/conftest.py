import json
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def predictions():
    """Labels drawn from class probabilities, the probabilities, and row weights."""
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(4), size=200)
    y = np.array(["a", "b", "c", "d"])[[rng.choice(4, p=row) for row in proba]]
    return y, proba, rng.uniform(0, 3, size=200)


@pytest.fixture
def draw_labels():
    """A function that draws one label per row of probabilities."""

    def draw(rng, proba):
        return (rng.uniform(size=(len(proba), 1)) > proba.cumsum(axis=1)[:, :-1]).sum(axis=1)

    return draw


GOLDEN = Path(__file__).parent.parent / "golden" / "measures"


@pytest.fixture(scope="session")
def golden_rows():
    """Rows with two and with three classes, as columns by name."""
    return np.genfromtxt(GOLDEN / "rows.csv", delimiter=",", names=True)


@pytest.fixture(scope="session")
def golden_values():
    """What R packages print for these rows; ``make_expected.R`` names the packages."""
    return json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
