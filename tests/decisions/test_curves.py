import numpy as np
import pytest
from scipy.stats import ttest_1samp
from sklearn.metrics import confusion_matrix

from calibrant.decisions import decision_curve, net_benefit


@pytest.fixture
def rows():
    rng = np.random.RandomState(0)
    proba = rng.dirichlet([1.0, 1.0, 2.0], size=300)
    y = (rng.uniform(size=(300, 1)) > proba.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return y, proba


@pytest.mark.parametrize("threshold", [0.05, 0.2, 0.5, 0.9])
def test_net_benefit_follows_its_formula(rows, threshold):
    y, proba = rows
    for k in range(3):
        (_, false_positive), (_, true_positive) = confusion_matrix(
            y == k, proba[:, k] >= threshold, labels=[False, True]
        )
        odds = threshold / (1 - threshold)
        expected = true_positive / 300 - false_positive / 300 * odds
        assert net_benefit(y, proba, threshold=threshold, of=k) == pytest.approx(expected)
        curve = decision_curve(y, proba, of=k, thresholds=[threshold])
        assert curve.net_benefit[0] == pytest.approx(expected)
        prevalence = np.mean(y == k)
        assert curve.treat_all[0] == pytest.approx(prevalence - (1 - prevalence) * odds)
        assert curve.prevalence == pytest.approx(prevalence)


def test_published_properties_of_decision_curves(rows):
    y, proba = rows
    curve = decision_curve(y, proba, of=0)
    # Treating all is worth nothing where the threshold is the prevalence (Vickers and Elkin).
    at_prevalence = decision_curve(y, proba, of=0, thresholds=[curve.prevalence])
    assert at_prevalence.treat_all[0] == pytest.approx(0.0, abs=1e-12)
    assert np.all(curve.net_benefit <= curve.prevalence)
    everyone = decision_curve(y, proba, of=0, thresholds=[0.0])
    assert everyone.net_benefit[0] == pytest.approx(curve.prevalence)
    best = np.maximum(curve.treat_all, 0.0)
    np.testing.assert_allclose(curve.advantage, curve.net_benefit - best, atol=1e-12)


# The example data of dcurves, 750 patients: predicted risks up to these thresholds, and patients
# with and without cancer between them.
RISKS = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 1.0]
PATIENTS = [[9, 9, 5, 7, 3, 10, 5, 57], [325, 127, 65, 30, 26, 23, 13, 36]]


def test_documented_example_of_dcurves():
    """The values at 0.25 are those in the tests of the R package; the others, of dcurves 1.1.7."""
    risk, y = np.tile(np.array(RISKS) - 0.01, 2), np.repeat([1, 0], len(RISKS))
    thresholds = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
    curve = decision_curve(y, risk, thresholds=thresholds, sample_weight=np.ravel(PATIENTS))
    published = [0.105544, 0.087407, 0.079216, 0.067333, 0.064000, 0.054667, 0.050154]
    np.testing.assert_allclose(curve.net_benefit, published, rtol=0, atol=5e-7)
    assert curve.treat_all[4] == pytest.approx(-0.1466667, abs=5e-8)
    # Family history, a yes or no, at a threshold of 0: those who have it are treated.
    y, history = np.repeat([0, 1, 0, 1], [554, 81, 91, 24]), np.repeat([0.0, 1.0], [635, 115])
    treated = decision_curve(y, history, thresholds=[1e-9])
    assert treated.net_benefit[0] == pytest.approx(0.032)
    assert treated.treat_all[0] == pytest.approx(0.140)


def test_interval_is_that_of_students_t_for_many_rows(rows):
    y, proba = (np.repeat(each, 20, axis=0) for each in rows)
    curve = decision_curve(y, proba, of=2, thresholds=[0.4])
    benefit = (proba[:, 2] >= 0.4) * np.where(y == 2, 1.0, -0.4 / 0.6)
    limits = ttest_1samp(benefit, 0.0).confidence_interval(0.95)
    assert curve.low[0] == pytest.approx(limits.low, abs=2e-5)
    assert curve.high[0] == pytest.approx(limits.high, abs=2e-5)
    against_all = benefit - np.where(y == 2, 1.0, -0.4 / 0.6)
    limits = ttest_1samp(against_all, 0.0).confidence_interval(0.95)
    assert curve.advantage_low[0] == pytest.approx(limits.low, abs=2e-5)


def test_rows_that_are_all_alike_have_an_interval():
    curve = decision_curve([0, 1] * 10, [0.05] * 20, thresholds=[0.5])
    assert curve.net_benefit[0] == 0.0
    assert curve.low[0] < -0.1
    assert curve.high[0] > 0.1


def test_integer_weights_are_repeated_rows(rows):
    y, proba = rows
    weight = np.arange(300) % 3
    one = decision_curve(y, proba, of=1, sample_weight=weight)
    two = decision_curve(np.repeat(y, weight), np.repeat(proba, weight, axis=0), of=1)
    np.testing.assert_allclose(one.low, two.low)
    np.testing.assert_allclose(one.advantage_high, two.advantage_high)


def test_thresholds_are_checked(rows):
    with pytest.raises(ValueError, match="Thresholds must be at least 0 and below 1, got values"):
        decision_curve(*rows, of=0, thresholds=[0.5, 1.0])
