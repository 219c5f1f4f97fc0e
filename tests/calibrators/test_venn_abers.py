import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import isotonic_regression

from calibrant.calibrators import VennAbersCalibrator


def isotonic_with_new_point(score, target, weight, new, label):
    """Fitted value at a new score, by SciPy's isotonic regression with the new point added."""
    score, target, weight = np.r_[score, new], np.r_[target, label], np.r_[weight, 1.0]
    distinct, inverse = np.unique(score, return_inverse=True)
    total = np.bincount(inverse, weight)
    fitted = isotonic_regression(np.bincount(inverse, weight * target) / total, weights=total)
    return fitted.x[np.searchsorted(distinct, new)]


@settings(max_examples=60)
@given(data=st.data())
def test_interval_agrees_with_two_isotonic_regressions(data):
    n = data.draw(st.integers(1, 14))
    score = data.draw(arrays(float, n, elements=st.integers(0, 9).map(float)))
    target = data.draw(arrays(float, n, elements=st.sampled_from([0.0, 1.0, 0.25])))
    weight = data.draw(arrays(float, n, elements=st.sampled_from([1.0, 0.2, 3.0])))
    venn = VennAbersCalibrator().fit(score, target, weight)
    places = np.unique(np.r_[score - 0.5, score, score + 0.5])
    expected = [
        [isotonic_with_new_point(score, target, weight, new, label) for label in (0.0, 1.0)]
        for new in places
    ]
    np.testing.assert_allclose(venn.predict_interval(places), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_interval_agrees_with_two_isotonic_regressions_for_very_different_weights(seed):
    rng = np.random.default_rng(seed)
    score, target, weight = np.arange(25.0), rng.uniform(size=25), 10.0 ** rng.uniform(-2, 2, 25)
    venn = VennAbersCalibrator().fit(score, target, weight)
    places = np.arange(-0.5, 25.0, 0.5)
    expected = [
        [isotonic_with_new_point(score, target, weight, new, label) for label in (0.0, 1.0)]
        for new in places
    ]
    np.testing.assert_allclose(venn.predict_interval(places), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["distinct", "tied"])
def test_agrees_with_venn_abers(name, peers):
    """On unweighted scores, the only ones that the venn-abers package supports."""
    case = peers["venn_abers"][name]
    venn = VennAbersCalibrator().fit(case["score"], case["y"])
    interval = venn.predict_interval(case["new"])
    np.testing.assert_allclose(interval, case["interval"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(venn.predict(case["new"]), case["proba"], rtol=0, atol=1e-9)


def test_probability_has_equal_regret_at_both_ends():
    rng = np.random.default_rng(0)
    score = rng.uniform(size=60)
    venn = VennAbersCalibrator().fit(score, rng.uniform(size=60) < score)
    grid = np.linspace(0, 1, 30)
    (lower, upper), proba = venn.predict_interval(grid).T, venn.predict(grid)
    # The regret is log(upper / proba) for a positive, log((1 - lower) / (1 - proba)) otherwise.
    np.testing.assert_allclose(upper / proba, (1 - lower) / (1 - proba))
    assert (lower <= proba).all()
    assert (proba <= upper).all()


def test_interval_narrows_as_rows_grow():
    rng = np.random.default_rng(0)
    widths = []
    for n in (30, 3000):
        score = rng.uniform(size=n)
        venn = VennAbersCalibrator().fit(score, rng.uniform(size=n) < score)
        widths.append(np.diff(venn.predict_interval(np.linspace(0.1, 0.9, 40)), axis=1).mean())
    assert widths[1] < widths[0] / 5
