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
