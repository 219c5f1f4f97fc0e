import numpy as np
import pytest
from scipy.special import softmax


@pytest.fixture(scope="session")
def simulate():
    """Draw scores and labels: the true probabilities are softmax(logit), the scores of a
    model softmax(factor * logit), overconfident where the factor is above 1."""

    def draw(n, n_classes, factor=1.0, seed=0):
        rng = np.random.default_rng(seed)
        logit = rng.normal(scale=1.5, size=(n, n_classes))
        cumulated = softmax(logit, axis=1).cumsum(axis=1)
        y = (rng.uniform(size=(n, 1)) > cumulated[:, :-1]).sum(axis=1)
        return softmax(factor * logit, axis=1), y

    return draw
