import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from benchmarks import default
from benchmarks.default import (
    draw_classes,
    measure_fit,
    measure_overhead,
    over_data_sets,
    time_methods,
)
from benchmarks.timing import Row


def test_a_default_fit_is_timed_against_scikit_learn():
    row = measure_fit(GaussianNB(), *draw_classes(3, n_rows=60), limit=5.0, title="fit")
    assert (row.title, row.limit) == ("fit", 5.0)
    assert row.ratio > 0


def test_the_overhead_is_a_share_of_the_fit():
    row = measure_overhead(LogisticRegression(), *draw_classes(3, n_rows=60))
    assert 0 < row.ratio < 1


def test_fits_and_scores_of_a_timed_estimator_are_counted():
    X, y = draw_classes(3, n_rows=60)
    timed, seconds = time_methods(LogisticRegression(C=0.5))
    timed.fit(X, y).predict_proba(X)
    assert timed.C == 0.5
    assert len(seconds) == 2


def test_data_sets_are_summarized_by_medians(monkeypatch):
    seconds = {"small": 1.0, "middle": 2.0, "large": 9.0}
    monkeypatch.setattr(default, "dataset_names", lambda: tuple(seconds))
    monkeypatch.setattr(default, "load_scaled", lambda name: (name, None))
    row = over_data_sets("fit", lambda name, _: Row("", seconds[name], 1.0, seconds[name], 5.0))
    assert row == Row("fit", 2.0, 1.0, 2.0, 5.0)


@pytest.mark.parametrize("n_classes", [3, 26])
def test_drawn_rows_have_the_given_number_of_classes(n_classes):
    _, y = draw_classes(n_classes)
    assert len(set(y)) == n_classes
