import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

from calibrant.strategies import Direct

GAUSSIAN = [GaussianNB(), GaussianNB(var_smoothing=0.3)]
DISCRETE = [
    MultinomialNB(),
    MultinomialNB(alpha=0.01, fit_prior=False),
    MultinomialNB(alpha=[0.5, 1.0, 1.5, 2.0, 2.5]),
    ComplementNB(),
    ComplementNB(norm=True, alpha=0.3),
    BernoulliNB(),
    BernoulliNB(binarize=1.5, alpha=2.0),
    BernoulliNB(binarize=None),
    CategoricalNB(min_categories=20),
    CategoricalNB(min_categories=[20, 30, 20, 20, 25], alpha=0.2, fit_prior=False),
]


def name(estimator):
    return str(estimator).replace("\n", "")


@pytest.fixture
def counts(request, make_counts):
    X, y = make_counts()
    if request.getfixturevalue("estimator").get_params().get("binarize", 0.0) is None:
        X = np.minimum(X, 1)
    return X, y


@pytest.mark.parametrize("estimator", GAUSSIAN, ids=name)
def test_gaussian_scores_equal_refits(compare, make_rows, estimator, strategy):
    assert compare(estimator, *make_rows(), strategy).n_refits == 1


@pytest.mark.parametrize("estimator", DISCRETE, ids=name)
def test_scores_from_counts_equal_refits(compare, counts, estimator, strategy):
    assert compare(estimator, *counts, strategy).n_refits == 1


@pytest.mark.parametrize("estimator", [*GAUSSIAN, *DISCRETE], ids=name)
def test_weighted_scores_equal_refits(compare, counts, estimator, strategy):
    X, y = counts
    weight = np.random.default_rng(1).exponential(size=len(y))
    weight[::10] = 0.0
    fit_params = {"sample_weight": weight}
    comparison = compare(estimator, X, y, strategy, fit_params=fit_params, weight=weight)
    assert comparison.n_refits == 1


def test_a_class_of_negligible_weight_is_left_to_refits(compare, make_rows):
    X, y = make_rows()
    fit_params = {"sample_weight": np.where(y == 0, 1e-12, 1.0)}
    comparison = compare(GaussianNB(), X, y, Direct(), fit_params=fit_params)
    assert comparison.n_refits == comparison.n_splits


@pytest.mark.parametrize("kind", [GaussianNB, MultinomialNB])
def test_given_priors_are_used(compare, make_rows, kind, strategy):
    priors = [0.2, 0.3, 0.5] if isinstance(strategy, Direct) else [0.2, 0.8]
    parameter = "priors" if kind is GaussianNB else "class_prior"
    X, y = make_rows()
    assert compare(kind(**{parameter: priors}), np.abs(X), y, strategy).n_refits == 1


@pytest.mark.parametrize("shift", [1e4, 1e6, 1e9])
@pytest.mark.parametrize("estimator", GAUSSIAN, ids=name)
def test_means_far_from_zero(compare, make_rows, estimator, shift):
    X, y = make_rows()
    comparison = compare(estimator, X + shift, y)
    # Beyond, a refit itself loses digits, and only another refit can tell which.
    assert comparison.n_refits == 1 or shift > 1e4


def test_a_held_out_outlier_does_not_spoil_the_variance(compare, make_rows):
    # Without the outlier, variances are smaller by 20 orders of magnitude.
    X, y = make_rows()
    X[7] = 1e10
    assert compare(GaussianNB(var_smoothing=0.0), X, y).n_refits < 5


def test_features_on_very_different_scales(compare, make_rows):
    X, y = make_rows()
    assert compare(GaussianNB(), X * [1e-6, 1.0, 1e3, 1e6], y).n_refits == 1


def test_splits_with_a_constant_feature_are_left_to_refits(compare, make_rows, strategy):
    X, y = make_rows()
    X[:, 0] = 0.0
    X[5, 0] = 1.0
    comparison = compare(GaussianNB(), X, y, strategy)
    assert 1 <= comparison.n_refits < comparison.n_splits


@pytest.mark.parametrize("constant", [0.0, 0.1])
def test_a_constant_feature(compare, make_rows, constant):
    X, y = make_rows()
    X[:, 0] = constant
    compare(GaussianNB(), X, y)


@pytest.mark.parametrize("estimator", [MultinomialNB(alpha=0.0), BernoulliNB(alpha=0.0)], ids=name)
def test_unsmoothed_zero_counts_are_left_to_refits(compare, make_counts, estimator):
    X, y = make_counts()
    X[:, 0] = np.where(y == 0, X[:, 0], 0)
    comparison = compare(estimator, X, y)
    assert comparison.n_refits > comparison.n_splits / 4


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize(
    "estimator", [MultinomialNB(), ComplementNB(norm=True), BernoulliNB(binarize=1.0)], ids=name
)
def test_sparse_counts(compare, make_counts, estimator, kind, strategy):
    X, y = make_counts()
    fit_params = {"sample_weight": np.linspace(1.0, 2.0, len(y))}
    assert compare(estimator, kind(X), y, strategy, fit_params=fit_params).n_refits == 1


def test_categories_beyond_those_of_the_training_rows_are_left_to_refits(compare, make_counts):
    X, y = make_counts()
    X[4, 0] = X[:, 0].max() + 3
    train = np.setdiff1d(np.arange(90), [4])
    splits = [(train, np.arange(5, 40)), (np.arange(90), np.array([4])), (train, np.arange(40, 60))]
    assert compare(CategoricalNB(min_categories=9), X, y, splits=splits).n_refits == 1
    splits = [(np.arange(90), np.array([4])), (train, np.array([4]))]
    with pytest.raises(IndexError):  # as a refit does
        compare(CategoricalNB(), X, y, splits=splits)
