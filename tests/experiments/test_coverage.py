import numpy as np
import pytest
from scipy.special import softmax

from calibrant.calibrators import CalibrationReport
from experiments import coverage
from experiments.coverage import (
    ESTIMATORS,
    POPULATIONS,
    SIZES,
    draw_logistic,
    is_covered,
    make_table,
)
from experiments.rendering import render


@pytest.mark.parametrize("population", POPULATIONS)
def test_no_class_is_missing_from_a_population(population):
    X, y = POPULATIONS[population](50, 0)
    assert len(X) == 50
    assert (np.bincount(y) >= 2).all()
    assert len(np.unique(y)) == y.max() + 1


def test_log_odds_of_the_logistic_population_are_linear():
    X, y = draw_logistic(20_000, 0)
    coefficients = np.random.RandomState(11).randn(6, 3)
    proba = softmax(X @ coefficients, axis=1)
    # The residuals have mean 0, whatever the features: within four standard errors.
    residual = np.eye(3)[y] - proba
    for weight in (np.ones(len(y)), *X.T):
        products = weight[:, None] * residual
        error = products.std(axis=0) / np.sqrt(len(y))
        assert (np.abs(products.mean(axis=0)) < 4 * error).all()


@pytest.mark.parametrize(("interval", "expected"), [((-9.0, 9.0), True), ((8.0, 9.0), False)])
def test_the_interval_is_compared_with_the_gain_on_new_rows(interval, expected, monkeypatch):
    monkeypatch.setattr(coverage, "N_TEST", 200)
    monkeypatch.setattr(CalibrationReport, "interval", interval)
    assert is_covered("waveform", "naive Bayes", 50, 0) is expected


def test_coverage_is_averaged_over_populations_and_seeds(monkeypatch):
    monkeypatch.setattr(
        coverage,
        "is_covered",
        lambda population, estimator, n_rows, seed: (
            n_rows == 100 or (estimator == "random forest" and population == "mixture")
        ),
    )
    lines = render(make_table(repeats=2, jobs=1), "markdown").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    found = {row[0]: row[1:] for row in rows if row[0].isdigit()}
    assert list(found) == [str(size) for size in SIZES]
    assert found["100"] == ["100%"] * len(ESTIMATORS) + ["100.0%"]
    assert found["50"] == ["0%", "0%", "0%", "33%", "8.3%"]
