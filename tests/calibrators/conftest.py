import numpy as np
import pytest
from scipy.special import softmax


@pytest.fixture(scope="session")
def simulate():
    """Draw scores and labels. The true probabilities are softmax(logit), the scores
    softmax(factor * logit): overconfident if the factor is above 1."""

    def draw(n, n_classes, factor=1.0, seed=0):
        rng = np.random.default_rng(seed)
        logit = rng.normal(scale=1.5, size=(n, n_classes))
        cumulative = softmax(logit, axis=1).cumsum(axis=1)
        y = (rng.uniform(size=(n, 1)) > cumulative[:, :-1]).sum(axis=1)
        return softmax(factor * logit, axis=1), y

    return draw
