import pytest
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant.datasets import make_waveform
from calibrant.planning import (
    Plan,
    plan_calibration,
    plan_from_pilot,
    plan_from_shares,
    plan_validation,
)

MARGINS = {"ratio": 0.5}


@pytest.fixture(autouse=True)
def few_simulations(monkeypatch):
    """Simulate as little as possible."""
    monkeypatch.setattr("calibrant.planning.calibration.SIZES", (25, 50))
    monkeypatch.setattr("calibrant.planning.validation.RAREST_COUNTS", (10, 20))
    monkeypatch.setitem(plan_calibration.__kwdefaults__, "n_repeats", 3)
    monkeypatch.setitem(plan_validation.__kwdefaults__, "n_repeats", 5)


def test_a_pilot_says_how_many_rows_to_fit_to_calibrate_and_to_show_calibration():
    X, y = make_waveform(100, random_state=0)
    model = CalibratedClassifier(GaussianNB(), method="temperature", cv=3)
    titles = []

    def progress(items, total):
        titles.append(total)
        return iter(items)

    plan = plan_from_pilot(model, X, y, margins=MARGINS, progress=progress)
    assert isinstance(plan, Plan)
    assert plan.fitting.n_rows == 100
    assert sum(plan.validation.shares) == pytest.approx(1.0)
    assert len(titles) == 3
    lines = str(plan).splitlines()
    starts = [line.partition(":")[0] for line in lines if line.startswith("To ")]
    assert starts == ["To fit", "To calibrate", "To show calibration"]
    assert plan.to_dict()["fitting"]["sizes"] == list(plan.fitting.sizes)


@pytest.mark.parametrize("n_features", [None, 5])
def test_features_are_needed_to_plan_the_fit_from_shares(n_features):
    plan = plan_from_shares([0.7, 0.3], 0.9, n_features=n_features, margins=MARGINS, random_state=0)
    assert (plan.fitting is None) == (n_features is None)
    assert ("To fit" in str(plan)) == (n_features is not None)
    assert plan == plan_from_shares(
        [0.7, 0.3], 0.9, n_features=n_features, margins=MARGINS, random_state=0
    )


def test_margins_are_checked_before_anything_is_simulated():
    def progress(items, total):
        pytest.fail("simulated")

    with pytest.raises(ValueError, match="margins must name"):
        plan_from_shares([0.7, 0.3], 0.9, margins={"x": 1.0}, progress=progress)
