import numpy as np
import pytest
from scipy.special import expit, logit

from calibrant._core.records import Record
from calibrant.planning import plan_validation, simulate_probabilities

NORMAL = 1.959964


@pytest.fixture(scope="module")
def population():
    return simulate_probabilities([0.9, 0.1], 0.75, n_rows=50_000, random_state=0)


def plan(proba, **margins):
    found = plan_validation(proba, margins=margins, assurance=0.5, n_repeats=20, random_state=0)
    return {(each.measure, each.of): each.n_rows for each in found.requirements}


def test_rows_for_the_slope_follow_the_closed_formula(population):
    """Riley et al. (2021): the inverse of the expected information, in the entry of the slope."""
    rows = plan(population, slope=0.3)["slope", 1]
    predicted = population[:, 1]
    variance, columns = predicted * (1 - predicted), np.vander(logit(predicted), 2)
    information = (columns * variance[:, None]).T @ columns / len(columns)
    expected = np.linalg.inv(information)[0, 0] / (0.3 / NORMAL) ** 2
    assert rows == pytest.approx(expected, rel=0.05)


def test_rows_for_the_auc_follow_the_closed_formula(population):
    """Newcombe's variance of the AUC, as in Riley et al. (2021)."""
    rows = plan(population, auc=0.05)["auc", 1]
    auc, share = 0.75, population[:, 1].mean()
    terms = 1 + (rows / 2 - 1) * (1 - auc) / (2 - auc) + (rows / 2 - 1) * auc / (1 + auc)
    variance = auc * (1 - auc) * terms / (rows**2 * share * (1 - share))
    assert NORMAL * np.sqrt(variance) == pytest.approx(0.05, rel=0.05)


def test_rows_for_the_ratio_follow_the_delta_method(population):
    """As in Riley et al. (2021), but with a random expected number of rows of the class."""
    rows = plan(population, ratio=0.2)["ratio", 1]
    share, residual = population[:, 1].mean(), np.mean(population[:, 1] * population[:, 0])
    half_width = np.sinh(NORMAL * np.sqrt(residual / rows) / share)
    assert half_width == pytest.approx(0.2, rel=0.05)
    # Without discrimination, this is their formula, (1 - share) / (share * n).
    blind = np.tile([0.8, 0.2], (10, 1))
    rows = plan(blind, ratio=0.2)["ratio", 1]
    assert np.sinh(NORMAL * np.sqrt(0.8 / 0.2 / rows)) == pytest.approx(0.2, rel=0.05)


def test_published_example_of_the_r_package_sampsizeval(population):
    """Prevalence 0.1, AUC 0.75; standard errors 0.025 of the AUC, 0.1 of the slope: 1,536 rows."""
    found = plan(population, auc=0.025 * NORMAL, slope=0.1 * NORMAL)
    assert max(found.values()) == pytest.approx(1536, rel=0.05)


def test_more_assurance_takes_more_rows_and_the_rarest_class_decides():
    proba = simulate_probabilities([0.6, 0.3, 0.1], 0.8, random_state=0)
    names = ["a", "b", "c"]
    low, high = (
        plan_validation(proba, labels=names, assurance=p, n_repeats=20, random_state=0)
        for p in (0.2, 0.9)
    )
    assert low.n_rows < high.n_rows
    assert high.deciding.of == "c"
    assert high.n_rows == max(each.n_rows for each in high.requirements)
    assert isinstance(high, Record)
    assert high.to_dict()["n_rows"] == high.n_rows
    assert "To show calibration: about" in str(high)
    assert "'c' decides" in str(high)


def test_every_class_gets_ten_rows():
    proba = np.tile([0.98, 0.02], (10, 1))
    assert plan(proba, ratio=5.0) == {("ratio", 0): 11, ("ratio", 1): 500}


def test_probabilities_without_information_on_the_slope_have_no_plan():
    assert plan(np.tile([0.5, 0.5], (10, 1)), slope=0.2)["slope", 0] == np.inf


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margins": {"slope": -1.0}}, "Every margin must be a positive number, got -1.0 for slo"),
        ({"margins": {"brier": 0.1}}, "margins must name some of slope, ratio, auc, got brier"),
        ({"margins": {}}, "got none"),
        ({"assurance": 1.0}, "assurance must lie strictly between 0 and 1, got 1.0"),
        ({"level": 2.0}, "level must lie strictly"),
    ],
)
def test_wrong_input_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        plan_validation([[0.5, 0.5]], **options)


def test_classes_that_are_too_rare_to_simulate_are_named():
    p = expit(-10.0)
    with pytest.raises(ValueError, match=r"at least 0.0005, got 4.5e-05 for class rare"):
        plan_validation([[1 - p, p]], labels=["common", "rare"])
