import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from calibrant.metrics import auc, brier_score, multinomial_calibration, weak_calibration


def as_rows(*intervals):
    return np.array([[each.estimate, each.low, each.high] for each in intervals])


@pytest.fixture
def two_classes():
    rng = np.random.RandomState(3)
    predicted = rng.uniform(0.02, 0.98, size=200)
    y = (rng.uniform(size=200) < expit(0.6 * logit(predicted) - 0.4)).astype(int)
    return y, predicted


def test_two_classes_agree_with_val_prob_and_glm_of_r(golden_rows, golden_values):
    found = weak_calibration(golden_rows["y2"], golden_rows["p2"])
    val_prob = golden_values["val_prob"]
    assert found.intercept.estimate == pytest.approx(val_prob["Intercept"], abs=1e-6)
    assert found.slope.estimate == pytest.approx(val_prob["Slope"], abs=1e-6)
    np.testing.assert_allclose(
        as_rows(found.intercept, found.slope), golden_values["intercept_and_slope"], atol=1e-5
    )
    # The intervals of glm assume that the slope is 1; the estimates are the same.
    (expected,) = golden_values["calibration_in_the_large"]
    assert found.calibration_in_the_large.estimate == pytest.approx(expected[0], abs=1e-6)


def draw_uniform_as_r(seed, size):
    """Return what ``set.seed(seed); runif(size)`` returns in R."""
    state, key = seed, []
    for _ in range(50 + 625):
        state = (69069 * state + 1) % 2**32
        key.append(state)
    generator = np.random.MT19937()
    # The first of the 625 numbers is the position, which R overwrites.
    generator.state = {
        "bit_generator": "MT19937",
        "state": {"key": np.array(key[51:], dtype=np.uint32), "pos": 624},
    }
    return generator.random_raw(size) * 2.0**-32


def test_documented_example_of_val_prob_in_rms():
    """Its help page fits a logistic model to 100 simulated rows and validates it on 100 others.

    The expected values are those that rms 6.5.0 prints.
    """
    x1, x2, x3, uniform = draw_uniform_as_r(1, 800).reshape(4, 200)
    assert x1[0].round(7) == 0.2655087
    y = (uniform <= expit(2 * (x1 - 0.5))).astype(int)
    X = np.column_stack([x1, x2, x3])
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X[:100], y[:100])
    predicted, outcome = model.predict_proba(X[100:])[:, 1], y[100:]
    found = weak_calibration(outcome, predicted)
    assert found.intercept.estimate == pytest.approx(0.05228721, abs=1e-6)
    assert found.slope.estimate == pytest.approx(0.95651781, abs=1e-6)
    assert auc(outcome, predicted) == pytest.approx(0.66026411, abs=1e-8)
    # val.prob scores one of the two classes.
    assert brier_score(outcome, predicted) / 2 == pytest.approx(0.23189635, abs=1e-7)


def test_three_classes_agree_with_vgam_of_r(golden_rows, golden_values):
    proba = np.column_stack([golden_rows[f"p3_{k}"] for k in range(3)])
    found = multinomial_calibration(golden_rows["y3"], proba)
    assert (found.reference, found.classes) == (0.0, (1.0, 2.0))
    estimates = [each.estimate for each in found.calibration_in_the_large]
    expected = np.array(golden_values["multinomial_in_the_large"])[:, 0]
    np.testing.assert_allclose(estimates, expected, atol=1e-5)
    np.testing.assert_allclose(
        as_rows(*found.intercept, *found.slope),
        golden_values["multinomial_intercepts_and_slopes"],
        atol=1e-5,
    )


def test_two_classes_agree_with_scikit_learn_and_with_the_score_equation(two_classes):
    y, predicted = two_classes
    found = weak_calibration(y, predicted)
    peer = LogisticRegression(C=np.inf, tol=1e-10).fit(logit(predicted)[:, None], y)
    assert found.slope.estimate == pytest.approx(peer.coef_.item(), abs=1e-5)
    assert found.intercept.estimate == pytest.approx(peer.intercept_.item(), abs=1e-5)
    # With this intercept, as many events are predicted as are observed.
    in_the_large = brentq(lambda a: expit(logit(predicted) + a).sum() - y.sum(), -5, 5)
    assert found.calibration_in_the_large.estimate == pytest.approx(in_the_large, abs=1e-6)
    assert found.observed_expected_ratio.estimate == pytest.approx(y.sum() / predicted.sum())


def test_calibration_in_the_large_has_robust_standard_errors(two_classes):
    y, predicted = two_classes
    found = weak_calibration(y, predicted).calibration_in_the_large
    corrected = expit(logit(predicted) + found.estimate)
    # The sandwich: squared residuals between two inverse Fisher informations.
    error = np.sqrt(np.sum((y - corrected) ** 2)) / np.sum(corrected * (1 - corrected))
    assert found.high - found.estimate == pytest.approx(1.959964 * error, rel=1e-5)


def test_two_classes_are_a_special_case_of_several(two_classes):
    y, predicted = two_classes
    one, several = weak_calibration(y, predicted), multinomial_calibration(y, predicted)
    np.testing.assert_allclose(
        as_rows(one.calibration_in_the_large, one.intercept, one.slope),
        as_rows(*several.calibration_in_the_large, *several.intercept, *several.slope),
        atol=1e-7,
    )


def test_the_reference_of_two_classes_changes_only_the_sign_of_intercepts(two_classes):
    y, predicted = two_classes
    first = multinomial_calibration(y, predicted, reference=0)
    second = multinomial_calibration(y, predicted, reference=1)
    assert second.slope[0].estimate == pytest.approx(first.slope[0].estimate)
    assert second.intercept[0].low == pytest.approx(-first.intercept[0].high)


def test_views_of_one_class_and_of_a_pair(predictions):
    y, proba, weight = predictions
    found = weak_calibration(y, proba, of="c", sample_weight=weight)
    again = weak_calibration(y == "c", proba[:, 2], sample_weight=weight)
    assert found == again
    rows = np.isin(y, ["a", "d"])
    pair = proba[rows, 3] / (proba[rows, 0] + proba[rows, 3])
    found = weak_calibration(y, proba, of=("d", "a"))
    again = weak_calibration(y[rows] == "d", pair)
    np.testing.assert_allclose(as_rows(found.slope), as_rows(again.slope), atol=1e-9)


def test_integer_weights_are_repeated_rows(predictions):
    y, proba, _ = predictions
    weight = 1 + np.arange(len(y)) % 3
    weighted = multinomial_calibration(y, proba, sample_weight=weight)
    repeated = multinomial_calibration(np.repeat(y, weight), np.repeat(proba, weight, axis=0))
    np.testing.assert_allclose(as_rows(*weighted.slope), as_rows(*repeated.slope), atol=1e-7)
    weighted = weak_calibration(y, proba, of="b", sample_weight=weight)
    repeated = weak_calibration(np.repeat(y, weight), np.repeat(proba, weight, axis=0), of="b")
    np.testing.assert_allclose(
        as_rows(weighted.observed_expected_ratio), as_rows(repeated.observed_expected_ratio)
    )


def test_estimates_without_information_are_not_numbers():
    separated = weak_calibration([0] * 20 + [1] * 20, np.linspace(0.1, 0.9, 40))
    assert np.isnan(separated.slope.estimate)
    assert tuple(separated.slope) == (-np.inf, np.inf)
    assert separated.calibration_in_the_large.estimate == pytest.approx(0.0, abs=1e-8)
    absent = multinomial_calibration([0, 1] * 30, [[0.3, 0.4, 0.3]] * 60, labels=[0, 1, 2])
    assert np.isfinite(absent.calibration_in_the_large[0].estimate)
    assert np.isnan(absent.calibration_in_the_large[1].estimate)


def test_the_ratio_without_events_has_an_upper_limit():
    found = weak_calibration([0] * 30, [0.1] * 30, labels=[0, 1]).observed_expected_ratio
    assert (found.estimate, found.low) == (0.0, 0.0)
    # Wilson's upper limit of 0 of 30 is z^2 / (30 + z^2).
    assert found.high == pytest.approx(1.959964**2 / (30 + 1.959964**2) / 0.1, rel=1e-5)


def test_errors_say_what_to_pass(predictions):
    y, proba, _ = predictions
    with pytest.raises(ValueError, match=r"of must be given for more than two classes, got 4"):
        weak_calibration(y, proba)
    for of in ("e", ("a", "e"), ("a", "a"), ("a", "b", "c")):
        with pytest.raises(ValueError, match="of must be 'top-label', one of the labels"):
            weak_calibration(y, proba, of=of)
    with pytest.raises(ValueError, match=r"rows of one of the classes \[1, 2\], got none"):
        weak_calibration([0] * 5, np.full((5, 3), 1 / 3), of=(1, 2), labels=[0, 1, 2])
    with pytest.raises(ValueError, match="reference must be one of the labels"):
        multinomial_calibration(y, proba, reference="e")
