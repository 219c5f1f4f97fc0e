import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from calibrant.metrics._random_effects import shrink

ESTIMATE = np.array([0.10, -0.02, 0.05, 0.30])
ERROR = np.array([0.05, 0.02, 0.10, 0.20])


def integrate(estimate, error):
    """Return posterior means by numerical integration over the spread, from the definition."""
    scale = 4 * np.sqrt(1 / np.mean(1 / error**2))

    def density(spread):
        variance = error**2 + spread**2
        mean = np.sum(estimate / variance) / np.sum(1 / variance)
        likelihood = np.prod(norm.pdf(estimate, mean, np.sqrt(variance)))
        # The integral over the mean, which has a flat prior.
        return likelihood / np.sqrt(np.sum(1 / variance)) * scale / (scale + spread) ** 2

    def moment(spread, at):
        variance = error**2 + spread**2
        mean = np.sum(estimate / variance) / np.sum(1 / variance)
        pull = error[at] ** 2 / variance[at]
        return density(spread) * ((1 - pull) * estimate[at] + pull * mean)

    total = quad(density, 0, np.inf, epsabs=1e-12)[0]
    return [
        quad(moment, 0, np.inf, args=(at,), epsabs=1e-12)[0] / total for at in range(len(error))
    ]


def test_the_posterior_is_that_of_numerical_integration():
    shrunken, low, high = shrink(ESTIMATE, ERROR, 0.95)
    np.testing.assert_allclose(shrunken, integrate(ESTIMATE, ERROR), atol=1e-3)
    assert np.all((low < shrunken) & (shrunken < high))


def test_intervals_contain_as_much_of_the_posterior_as_their_level_says():
    # The posterior is sampled: the spread by its weight on a fine grid, then mean and effect.
    rng = np.random.RandomState(0)
    scale = 4 * np.sqrt(1 / np.mean(1 / ERROR**2))
    uniform = rng.uniform(size=100_000)
    variance = ERROR**2 + (scale * uniform / (1 - uniform))[:, None] ** 2
    total = (1 / variance).sum(axis=1)
    mean = (ESTIMATE / variance).sum(axis=1) / total
    weight = np.prod(norm.pdf(ESTIMATE, mean[:, None], np.sqrt(variance)), axis=1) / np.sqrt(total)
    chosen = rng.choice(len(weight), p=weight / weight.sum(), size=100_000)
    center = rng.normal(mean[chosen], 1 / np.sqrt(total[chosen]))[:, None]
    pull = (ERROR**2 / variance)[chosen]
    effect = rng.normal(
        (1 - pull) * ESTIMATE + pull * center, np.sqrt(np.maximum(1 - pull, 0)) * ERROR
    )
    _, low, high = shrink(ESTIMATE, ERROR, 0.9)
    np.testing.assert_allclose(low, np.quantile(effect, 0.05, axis=0), atol=0.004)
    np.testing.assert_allclose(high, np.quantile(effect, 0.95, axis=0), atol=0.004)


def test_noisier_estimates_are_pulled_more_and_none_past_the_others():
    estimate, error = np.array([0.0, 0.0, 0.2, 0.2]), np.array([0.02, 0.02, 0.02, 0.1])
    shrunken, *_ = shrink(estimate, error, 0.95)
    assert 0 < shrunken[3] < shrunken[2] < 0.2
    assert 0 < shrunken[0] == pytest.approx(shrunken[1])


def test_precise_estimates_stay_and_equal_ones_gain_precision():
    far = shrink(np.array([0.0, 0.5]), np.array([0.01, 0.01]), 0.95)
    np.testing.assert_allclose(far[0], [0.0, 0.5], atol=1e-3)
    _, low, high = shrink(np.zeros(8), np.full(8, 0.1), 0.95)
    assert np.all(high - low < 2 * 1.96 * 0.1)
    np.testing.assert_allclose(low, -high)


def test_shrinking_commutes_with_shifts_and_scales():
    shrunken, low, high = shrink(ESTIMATE, ERROR, 0.95)
    moved = shrink(3 + 2 * ESTIMATE, 2 * ERROR, 0.95)
    for before, after in zip((shrunken, low, high), moved, strict=True):
        np.testing.assert_allclose(after, 3 + 2 * before, rtol=1e-9)
