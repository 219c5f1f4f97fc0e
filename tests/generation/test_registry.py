import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

from calibrant.generation import (
    CrossFit,
    FrozenModel,
    GroupedVotes,
    MonteCarloCV,
    OutOfBag,
    RepeatedFolds,
    resolve_generator,
)


def test_auto_depends_on_the_problem_the_estimator_and_the_groups():
    assert resolve_generator("auto", binary=True) == MonteCarloCV()
    assert resolve_generator("auto", binary=False) == RepeatedFolds()
    assert resolve_generator(None, binary=False) == RepeatedFolds()
    forest = RandomForestClassifier(50)
    assert resolve_generator("auto", binary=False, estimator=forest) == OutOfBag()
    assert resolve_generator("auto", binary=True, estimator=forest) == MonteCarloCV()
    grouped = resolve_generator("auto", binary=False, estimator=forest, grouped=True)
    assert grouped == GroupedVotes()
    voting = resolve_generator("auto", binary=False, estimator=forest, must_resample=True)
    assert voting == RepeatedFolds()


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
