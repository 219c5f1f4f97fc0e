import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logit, softmax
from scipy.stats import binom, chi2, norm
from sklearn.linear_model import LogisticRegression

from calibrant.prior_shift import adjust_prior, estimate_prior


@pytest.fixture
def draw():
    """A function that draws Gaussian classes, with their exact probabilities for the old shares."""

    def draw(rng, n_rows, old, new, distance=1.5):
        n_classes = len(old)
        means = distance * np.eye(n_classes)
        y = rng.choice(n_classes, p=new, size=n_rows)
        X = rng.randn(n_rows, n_classes) + means[y]
        return softmax(X @ means.T + np.log(old), axis=1), y

    return draw


def maximize(log_likelihood, n_classes):
    """Maximize over shares by a general optimizer."""
    found = minimize(
        lambda free: -log_likelihood(softmax(np.append(free, 0.0))),
        np.zeros(n_classes - 1),
        method="BFGS",
        options={"gtol": 1e-8},
    )
    return softmax(np.append(found.x, 0.0)), -found.fun


def test_gaussian_classes_follow_bayes_theorem():
    x = np.linspace(-4, 4, 50)
    density = np.column_stack([norm.pdf(x, -1), norm.pdf(x, 0), norm.pdf(x, 2)])
    old, new = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.3, 0.1])
    before, after = (density * each / (density @ each)[:, None] for each in (old, new))
    np.testing.assert_allclose(adjust_prior(before, old=old, new=new), after)
    # Numbers of rows are as good as shares, and the way back is the same.
    again = adjust_prior(after, old=new * 70, new=old * 300)
    np.testing.assert_allclose(again, before)


def test_two_classes_are_shifted_on_the_log_odds_scale():
    predicted = np.array([0.1, 0.5, 0.7])
    proba = np.column_stack([1 - predicted, predicted])
    found = adjust_prior(proba, old=[0.5, 0.5], new=[0.9, 0.1])[:, 1]
    np.testing.assert_allclose(logit(found), logit(predicted) + np.log(1 / 9))


def test_balancing_is_undone():
    rng = np.random.RandomState(0)
    y = (rng.uniform(size=20_000) < 0.1).astype(int)
    X = rng.randn(20_000, 1) + 1.5 * y[:, None]
    plain = LogisticRegression(C=np.inf).fit(X, y).predict_proba(X)
    balanced = LogisticRegression(C=np.inf, class_weight="balanced").fit(X, y).predict_proba(X)
    undone = adjust_prior(balanced, old=[1, 1], new=np.bincount(y))
    assert np.abs(balanced - plain).max() > 0.3
    assert np.abs(undone - plain).max() < 0.03


@pytest.mark.parametrize("n_classes", [2, 4])
def test_estimate_maximizes_the_likelihood(draw, n_classes):
    rng = np.random.RandomState(1)
    old = np.full(n_classes, 1 / n_classes)
    new = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    proba, _ = draw(rng, 300, old, new)
    found = estimate_prior(proba, old=old)
    expected, value = maximize(lambda share: np.log((proba / old) @ share).sum(), n_classes)
    np.testing.assert_allclose(found.new, expected, atol=1e-5)
    assert found.statistic == pytest.approx(2 * value, abs=1e-5)
    assert found.p_value == pytest.approx(chi2.sf(2 * value, n_classes - 1), rel=1e-3)
    # At the estimate, the adjusted probabilities have the estimated shares as their means.
    adjusted = adjust_prior(proba, old=old, new=found.new)
    np.testing.assert_allclose(adjusted.mean(axis=0), found.new, atol=1e-6)


def test_counts_of_training_rows_enter_the_test_as_a_second_sample(draw):
    rng = np.random.RandomState(2)
    count = np.array([40.0, 25.0, 15.0])
    old = count / count.sum()
    proba, _ = draw(rng, 150, old, [0.3, 0.3, 0.4])

    def both(share):
        return np.log((proba / old) @ share).sum() + count @ np.log(share)

    _, same = maximize(both, 3)
    _, new = maximize(lambda share: np.log((proba / old) @ share).sum(), 3)
    found = estimate_prior(proba, old=count)
    assert found.statistic == pytest.approx(2 * (new + count @ np.log(old) - same), abs=1e-5)
    # Many training rows are as good as known shares.
    known = estimate_prior(proba, old=old)
    assert estimate_prior(proba, old=1e7 * count).statistic == pytest.approx(
        known.statistic, rel=1e-3
    )
    assert found.statistic < known.statistic
    assert found.share == known.share


def test_limits_are_where_the_profile_likelihood_falls(draw):
    rng = np.random.RandomState(3)
    old = np.array([0.5, 0.5])
    proba, _ = draw(rng, 200, old, [0.7, 0.3])
    low, high = estimate_prior(proba, old=old, level=0.9).share[1]
    grid = np.linspace(0.001, 0.999, 9981)
    profile = np.log(np.outer(proba[:, 0] / 0.5, 1 - grid) + np.outer(proba[:, 1] / 0.5, grid))
    profile = profile.sum(axis=0)
    inside = grid[2 * (profile.max() - profile) <= chi2.ppf(0.9, 1)]
    assert (low, high) == pytest.approx((inside[0], inside[-1]), abs=2e-4)


def test_a_class_that_is_gone_has_a_share_of_nearly_zero(draw):
    rng = np.random.RandomState(4)
    old = np.full(3, 1 / 3)
    proba, _ = draw(rng, 200, old, [0.5, 0.5, 0.0], distance=4.0)
    found = estimate_prior(proba, old=old).share[2]
    assert found.estimate < 1e-3
    assert found.low == 0.0
    assert 0.001 < found.high < 0.05


def test_integer_weights_are_repeated_rows(draw):
    rng = np.random.RandomState(5)
    old = np.full(3, 1 / 3)
    proba, _ = draw(rng, 60, old, old)
    weight = np.arange(60) % 3
    one = estimate_prior(proba, old=old, sample_weight=weight)
    two = estimate_prior(np.repeat(proba, weight, axis=0), old=old)
    np.testing.assert_allclose(one.new, two.new, atol=1e-6)
    assert one.statistic == pytest.approx(two.statistic, abs=1e-6)
    assert one.n_rows == two.n_rows == 60


@pytest.mark.slow
def test_the_test_keeps_its_level_if_both_samples_vary(draw):
    rng = np.random.RandomState(6)
    true = np.array([0.7, 0.3])
    n_rejected = n_rejected_as_known = 0
    for _ in range(400):
        count = rng.multinomial(100, true)
        proba, _ = draw(rng, 300, count / 100, true)
        n_rejected += estimate_prior(proba, old=count).p_value < 0.05
        n_rejected_as_known += estimate_prior(proba, old=count / 100).p_value < 0.05
    least, most = binom.ppf([0.005, 0.995], 400, 0.05)
    assert least <= n_rejected <= most
    assert n_rejected_as_known > 2 * most


def test_wrong_input_is_named():
    proba = [[0.5, 0.5], [0.2, 0.8]]
    with pytest.raises(ValueError, match="new must have one frequency for each of the 2 columns"):
        adjust_prior(proba, old=[1, 1], new=[1, 1, 1])
    with pytest.raises(ValueError, match="old must hold non-negative frequencies, not all 0"):
        adjust_prior(proba, old=[0, 0], new=[1, 1])
    with pytest.raises(ValueError, match="old must be positive for every class that new contains"):
        adjust_prior(proba, old=[1, 0], new=[1, 1])
    with pytest.raises(ValueError, match="got none in row 1"):
        adjust_prior([[0.5, 0.5], [0.0, 1.0]], old=[1, 1], new=[1, 0])
    with pytest.raises(ValueError, match=r"sums from 0\.9 to 1"):
        adjust_prior([[0.5, 0.4], [0.2, 0.8]], old=[1, 1], new=[1, 2])
    with pytest.raises(ValueError, match="old must be positive for every class, got 0"):
        estimate_prior(proba, old=[1, 0])
