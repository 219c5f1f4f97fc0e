import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB

from experiments import intervals
from experiments.intervals import (
    CLASSES,
    ESTIMATORS,
    N_NEW,
    SIZES,
    WORLDS,
    Found,
    draw_labels,
    simulate,
    write_tables,
)


@pytest.mark.parametrize(
    ("world", "estimator"), [("linear", LogisticRegression()), ("Gaussian", GaussianNB())]
)
def test_a_model_of_the_right_form_learns_the_truth_from_many_rows(world, estimator):
    rng = np.random.RandomState(0)
    draw = WORLDS[world](3, rng)
    X, proba = draw(20_000)
    estimator.fit(X, draw_labels(proba, rng))
    X_new, true = draw(2000)
    assert np.abs(estimator.predict_proba(X_new) - true).mean() < 0.02


def test_the_curved_world_is_somewhat_beyond_logistic_regression():
    rng = np.random.RandomState(0)
    draw = WORLDS["curved"](3, rng)
    X, proba = draw(20_000)
    y = draw_labels(proba, rng)
    linear = LogisticRegression(max_iter=1000).fit(X, y).predict_proba(X)
    difference = log_loss(y, linear) - log_loss(y, proba)
    assert 0.01 < difference < 0.2


def test_one_data_set_has_coverage_width_and_sets(monkeypatch):
    monkeypatch.setattr(intervals, "N_NEW", 100)
    found = simulate("linear", "logistic regression", 3, 60, 1)
    assert 0.5 < found.covered <= 1
    assert 0 < found.width < 1
    assert np.all((found.in_set >= 0.5) & (found.in_set <= 1 + 1e-9))
    assert 1 <= found.set_size <= 3


def test_tables_average_over_cases(tmp_path):
    results = {
        (world, estimator, k, n_rows): [
            Found(0.9, 0.2, np.full(k, 0.8), 1.5),
            Found(1.0, 0.4, np.ones(k), 1.5),
        ]
        for world in WORLDS
        for estimator in ESTIMATORS
        for k in CLASSES
        for n_rows in SIZES
    }
    write_tables(results, tmp_path)
    assert "--repeats 2" in (tmp_path / "README.md").read_text()
    for name in ("by-truth.md", "by-classes.md"):
        table = (tmp_path / name).read_text()
        assert table.count("95.0% (0.30)") == len(SIZES) * (9 if name == "by-truth.md" else 12)
        assert str(N_NEW) in table
    assert "90.0%, 90.0% (1.50)" in (tmp_path / "sets.md").read_text()
