import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from calibrant.metrics import multinomial_calibration
from calibrant.planning import plan_development, simulate_probabilities
from calibrant.planning.development import rows_for_shrinkage


def test_published_example_of_pmsampsize_for_two_classes():
    """Prevalence 0.174, C-statistic 0.89, 24 parameters: 615, 660 and 221 rows."""
    proba = simulate_probabilities([0.826, 0.174], 0.89, n_rows=200_000, random_state=0)
    found = plan_development(proba, 24)
    assert found.for_shrinkage == pytest.approx(615, rel=0.01)
    assert found.for_optimism == pytest.approx(660, rel=0.01)
    assert found.for_shares == pytest.approx(221, rel=0.01)
    assert found.n_rows == 660
    assert found.to_dict()["n_rows"] == 660


def test_published_formula_of_riley_and_of_pate():
    # Cox-Snell R2 of 0.288, 24 parameters.
    assert np.ceil(rows_for_shrinkage(0.288, 24, 0.9)) == 623
    # The pair of classes 3 and 5 of an ovarian tumor model: R2 of 0.128 (rounded), 17 parameters.
    share = (176 + 120) / (2557 + 186 + 176 + 467 + 120)
    assert rows_for_shrinkage(0.128, 17, 0.9) / share == pytest.approx(13136, rel=0.005)


def test_shrinkage_of_three_classes_is_as_planned():
    """Fit logistic regression to as many rows as planned: slopes on new rows are about 0.9."""
    rng = np.random.RandomState(0)
    coefficients = rng.standard_normal((8, 3)) * 0.5

    def draw(n_rows):
        X = rng.standard_normal((n_rows, 8))
        return X, (X @ coefficients + rng.gumbel(size=(n_rows, 3))).argmax(axis=1)

    X, y = draw(20_000)
    n_rows = round(plan_development(softmax(X @ coefficients, axis=1), 8).for_shrinkage)
    slopes = []
    for _ in range(20):
        model = LogisticRegression(C=np.inf).fit(*draw(n_rows))
        found = multinomial_calibration(y, model.predict_proba(X))
        slopes.append([each.estimate for each in found.slope])
    assert np.mean(slopes) == pytest.approx(0.91, abs=0.03)


def test_features_are_counted():
    proba = simulate_probabilities([0.5, 0.5], 0.8, random_state=0)
    ten, twenty = plan_development(proba, 10), plan_development(proba, 20)
    assert twenty.for_shrinkage == pytest.approx(2 * ten.for_shrinkage)
    assert "logistic regression with 20 features" in str(twenty)
    with pytest.raises(ValueError, match="n_features must be at least 1, got 0"):
        plan_development(proba, 0)


def test_nothing_can_be_learned_from_features_without_information():
    assert plan_development(np.tile([0.5, 0.5], (3, 1)), 2).for_shrinkage == np.inf


def test_rows_that_exclude_two_classes_do_not_count_for_their_pair():
    proba = simulate_probabilities([0.4, 0.3, 0.3], 0.8, random_state=0)
    certain = np.vstack([proba, [[1.0, 0.0, 0.0]]])
    almost = np.vstack([proba, [[1.0 - 2e-12, 1e-12, 1e-12]]])
    found, expected = plan_development(certain, 5), plan_development(almost, 5)
    assert found.for_shrinkage == pytest.approx(expected.for_shrinkage, rel=1e-6)
    with pytest.raises(ValueError, match="positive mean probability, got 0 for class 1"):
        plan_development([[1.0, 0.0], [1.0, 0.0]], 5)
