import numpy as np
import pytest
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant.strategies import Direct

LINEAR = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2),
    LinearDiscriminantAnalysis(solver="eigen"),
]
QUADRATIC = [
    QuadraticDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(reg_param=0.2),
]
if hasattr(QuadraticDiscriminantAnalysis(), "solver"):  # added in scikit-learn 1.8
    QUADRATIC.append(QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1))


def name(estimator):
    return str(estimator).replace("\n", "")


@pytest.mark.parametrize("estimator", [*LINEAR, *QUADRATIC], ids=name)
def test_scores_equal_refits(compare, make_rows, estimator, strategy):
    assert compare(estimator, *make_rows(), strategy).n_refits == 1


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_given_priors_are_used(compare, make_rows, kind, strategy):
    priors = [0.2, 0.3, 0.5] if isinstance(strategy, Direct) else [0.2, 0.8]
    assert compare(kind(priors=priors), *make_rows(), strategy).n_refits == 1


def test_priors_that_do_not_sum_to_one_are_normalized(compare, make_rows):
    estimator = LinearDiscriminantAnalysis(priors=[1.0, 3.0])
    assert compare(estimator, *make_rows()).n_refits == 1


@pytest.mark.parametrize("estimator", [LINEAR[1], *QUADRATIC[2:]], ids=name)
def test_estimated_shrinkage_is_left_to_refits(compare, make_rows, estimator):
    estimator = type(estimator)(solver=estimator.solver, shrinkage="auto")
    comparison = compare(estimator, *make_rows())
    assert comparison.n_refits == comparison.n_splits


@pytest.mark.parametrize("shift", [1e4, 1e6, 1e9])
@pytest.mark.parametrize("estimator", [*LINEAR, *QUADRATIC], ids=name)
def test_means_far_from_zero(compare, make_rows, estimator, shift):
    X, y = make_rows()
    compare(estimator, X + shift, y)


@pytest.mark.parametrize("estimator", [LINEAR[0], QUADRATIC[0]], ids=name)
def test_means_so_far_from_zero_that_refits_lose_digits_are_left_to_refits(
    compare, make_rows, estimator
):
    X, y = make_rows()
    comparison = compare(estimator, X + 3e6, y)
    assert comparison.n_refits == comparison.n_splits


@pytest.mark.parametrize(
    "estimator",
    [
        LinearDiscriminantAnalysis(),
        make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis()),
    ],
    ids=name,
)
def test_features_on_very_different_scales(compare, make_rows, estimator):
    X, y = make_rows()
    assert compare(estimator, X * [1e-6, 1.0, 1e3, 1e6], y).n_refits == 1


@pytest.mark.parametrize("constant", [0.0, 0.1])
def test_a_constant_feature(compare, make_rows, constant):
    X, y = make_rows()
    X[:, 0] = constant
    compare(LinearDiscriminantAnalysis(), X, y)


@pytest.mark.parametrize("noise", [1e-12, 1e-8, 1e-4, 1e-2])
@pytest.mark.parametrize("solver", ["svd", "lsqr"])
def test_nearly_collinear_features(compare, make_rows, noise, solver):
    X, y = make_rows()
    X[:, 1] = X[:, 0] + noise * X[:, 1]
    compare(LinearDiscriminantAnalysis(solver=solver), X, y)
    if noise >= 1e-4:
        compare(QuadraticDiscriminantAnalysis(tol=0.0), X, y)


def test_more_features_than_rows(compare, make_rows):
    assert compare(LinearDiscriminantAnalysis(), *make_rows(40, 2, 60)).n_refits == 1


@pytest.mark.parametrize("tol", [1e-4, 0.05, 0.3])
def test_the_svd_solver_drops_axes_along_which_means_hardly_vary(compare, tol):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 3)) + np.outer([0.0, 1.0, 3.0], [3.0, 2.0, 1.0])[y]
    assert compare(LinearDiscriminantAnalysis(tol=tol), X, y, Direct()).n_refits == 1


def test_labels_with_the_same_mean_are_left_to_refits(compare):
    X = np.array([0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 2.0, 1.0, 1.0])[:, None]
    y = np.arange(12) % 2
    splits = [(np.r_[:8], np.r_[8:12]), (np.r_[4:12], np.r_[:4]), (np.r_[1:12], np.r_[:1])]
    assert compare(LinearDiscriminantAnalysis(), X, y, splits=splits).n_refits > 1
