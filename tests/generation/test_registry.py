import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

from calibrant._core.validation import check_rows
from calibrant._core.voting import resolve_voting
from calibrant.generation import (
    CrossFit,
    FrozenModel,
    GroupedVotes,
    MonteCarloCV,
    OutOfBag,
    RepeatedFolds,
    ResampledFolds,
    resolve_generator,
)


def make_rows(n_rows=20, *, n_distinct=None, grouped=False):
    X = np.arange(n_rows)[:, None] % (n_distinct or n_rows)
    groups = np.arange(n_rows) // 2 if grouped else None
    return check_rows(X, np.arange(n_rows) % 2, None, groups)


def test_auto_depends_on_the_problem_the_estimator_and_the_groups():
    assert resolve_generator("auto", binary=True) == MonteCarloCV()
    assert resolve_generator("auto", binary=False) == RepeatedFolds()
    assert resolve_generator(None, binary=False) == RepeatedFolds()
    forest = RandomForestClassifier(50)
    assert resolve_generator("auto", binary=False, estimator=forest) == OutOfBag()
    assert resolve_generator("auto", binary=True, estimator=forest) == MonteCarloCV()
    grouped = resolve_generator(
        "auto", binary=False, estimator=forest, rows=make_rows(grouped=True)
    )
    assert grouped == GroupedVotes()
    required = resolve_voting(True, chooses=True)
    voting = resolve_generator("auto", binary=False, estimator=forest, voting=required)
    assert voting == ResampledFolds()


@pytest.mark.parametrize(
    ("ensemble", "n_rows", "expected"),
    [
        ("auto", 999, ResampledFolds()),
        ("auto", 1000, RepeatedFolds()),
        (False, 999, RepeatedFolds()),
        (True, 999, ResampledFolds()),
        (True, 1000, RepeatedFolds()),
    ],
)
def test_models_of_few_rows_that_may_vote_are_fitted_on_resampled_folds(ensemble, n_rows, expected):
    voting = resolve_voting(ensemble, chooses=True)
    rows = make_rows(n_rows)
    assert resolve_generator("auto", binary=False, rows=rows, voting=voting) == expected


@pytest.mark.parametrize(("n_distinct", "expected"), [(60, OutOfBag()), (20, GroupedVotes())])
def test_out_of_bag_votes_are_not_used_if_rows_are_repeated(n_distinct, expected):
    forest = RandomForestClassifier(50)
    rows = make_rows(100, n_distinct=n_distinct)
    assert resolve_generator("auto", binary=False, estimator=forest, rows=rows) == expected


def test_names_numbers_splitters_and_generators_are_accepted():
    assert resolve_generator("monte-carlo", binary=False) == MonteCarloCV()
    assert resolve_generator("oob", binary=True) == OutOfBag()
    assert resolve_generator(7, binary=True) == CrossFit(7)
    splitter = KFold(5, shuffle=True)
    assert resolve_generator(splitter, binary=True).cv is splitter
    assert resolve_generator(RepeatedFolds(3), binary=True) == RepeatedFolds(3)


@pytest.mark.parametrize("cv", ["auto", 5, "monte-carlo", MonteCarloCV()])
def test_a_frozen_estimator_overrides_cv(cv):
    frozen = FrozenEstimator(GaussianNB())
    assert resolve_generator(cv, binary=True, estimator=frozen) == FrozenModel()


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ("loo", "cv must be 'auto', one of .* got 'loo'"),
        (2.5, "cv must be a number of folds.* got 2.5"),
        (True, "cv must be a number of folds.* got True"),
        (KFold, "an instance of a scikit-learn splitter"),
    ],
)
def test_anything_else_raises_a_clear_error(cv, message):
    with pytest.raises(ValueError, match=message):
        resolve_generator(cv, binary=True)
