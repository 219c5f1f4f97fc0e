import numpy as np
import pytest

from experiments.arena.losses import compute_losses
from experiments.store import Case


def certain_run(make_run, certainty, **fields):
    """A run on four rows whose true class has one probability."""
    proba = np.column_stack([np.full(4, certainty), np.full(4, 1 - certainty)])
    return make_run(experiment="arena", y_true=np.zeros(4, dtype=int), proba=proba, **fields)


def test_losses_are_by_case_method_and_fold(make_run):
    runs = [
        certain_run(make_run, certainty, classifier=classifier, method=method, fold=fold)
        for classifier, certainty in (("rf", 0.5), ("nb", 0.8))
        for method in ("auto", "raw")
        for fold in (0, 1)
    ]
    losses = compute_losses(runs, None)
    # In the order of the registries.
    assert losses.cases == [Case("nb", "seeds"), Case("rf", "seeds")]
    assert losses.methods == ["raw", "auto"]
    assert losses.folds == [0, 1]
    np.testing.assert_allclose(losses.log_loss[0], -np.log(0.8))
    np.testing.assert_allclose(losses.brier[1], 2 * 0.5**2)
    np.testing.assert_allclose(losses.mean_log_loss[:, 0], -np.log([0.8, 0.5]))
    assert losses.was_run.all()
    assert losses.test_ratio is None


def test_only_folds_that_all_cases_have_count(make_run):
    runs = [certain_run(make_run, 0.9, method="raw", data_set="seeds", fold=f) for f in (0, 1, 2)]
    runs += [certain_run(make_run, 0.9, method="raw", data_set="ecoli", fold=f) for f in (1, 3)]
    assert compute_losses(runs, None).folds == [1]
    with pytest.raises(ValueError, match=r"none of the 4 runs .* Continue with: python -m"):
        compute_losses(runs[:3] + runs[4:], None)


def test_a_failed_run_was_run_and_has_no_loss(make_run):
    runs = [
        certain_run(make_run, 0.9, method="raw"),
        make_run(experiment="arena", method="auto", proba=np.empty((0, 2)), error="failed"),
        certain_run(make_run, 0.9, method="raw", data_set="ecoli"),
    ]
    losses = compute_losses(runs, None)
    assert losses.was_run.tolist() == [[[True], [False]], [[True], [True]]]
    assert np.isnan(losses.log_loss).tolist() == [[[False], [True]], [[False], [True]]]


def test_rows_that_do_not_sum_to_one_are_normalized(make_run):
    run = certain_run(make_run, 0.8, method="raw")
    run.proba[:] *= 0.5
    assert compute_losses([run], None).log_loss.item() == pytest.approx(-np.log(0.8))


def test_the_versions_of_all_runs_are_collected(make_run):
    runs = [
        certain_run(make_run, 0.9, method=method, versions={"calibrant": version, "numpy": "2"})
        for method, version in (("raw", "0.1"), ("auto", "0.2"))
    ]
    assert compute_losses(runs, None).versions == {"calibrant": ["0.1", "0.2"], "numpy": ["2"]}


def test_the_test_ratio_follows_from_the_number_of_training_rows(make_run):
    losses = compute_losses([certain_run(make_run, 0.8, method="raw")], 50)
    np.testing.assert_allclose(losses.test_ratio, [4 / 50])
