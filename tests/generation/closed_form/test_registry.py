"""The oracle is the loop that refits, on the same splits."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from calibrant import CalibratedClassifier
from calibrant._core import fitting
from calibrant._core.fitting import Fitter
from calibrant._core.problems import scoring_problems
from calibrant.generation import CrossFit, MonteCarloCV
from calibrant.generation.closed_form import registry
from calibrant.strategies import AllPairs, Direct, OneVsRest, OutputCode

STRATEGIES = [OneVsRest(), AllPairs(), OutputCode(), Direct()]
FEW_POINTS = MonteCarloCV(n_points=120)


def make_rows(n_rows=90, n_classes=3, n_features=4, seed=0):
    return make_classification(
        n_rows,
        n_features,
        n_informative=n_features,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=0.5,
        random_state=seed,
    )


def make_counts(n_rows=90, n_classes=3, n_features=5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    rate = rng.uniform(0.3, 3.0, size=(n_classes, n_features))
    return rng.poisson(rate[y]), y


def make_parts(X, y, strategy, weight=None, generator=FEW_POINTS):
    classes, index = np.unique(y, return_inverse=True)
    taking_part = np.ones(len(y), bool) if weight is None else weight > 0
    code = strategy.code(len(classes), np.random.RandomState(0))
    problems = scoring_problems(code, index, classes, taking_part)
    fitter = Fitter(None, X, {}, np.random.RandomState(0))
    splits = generator._splits(fitter, index, taking_part, None, {})
    return [part for own in generator._parts(splits, problems) for part in own]


class Both:
    """Held-out scores with the closed forms and without them."""

    def __init__(self, monkeypatch):
        self.monkeypatch = monkeypatch

    def __call__(self, estimator, X, y, strategy=STRATEGIES[0], fit_params=None, **options):
        """Assert that they are the same; return the number of parts and of refits."""
        parts = make_parts(X, y, strategy, **options)
        fit_params = fit_params or {}
        ours, refits = self.run(estimator, X, fit_params, parts)
        with self.monkeypatch.context() as patch:
            patch.setattr(registry, "FORMS", {})
            theirs, everything = self.run(estimator, X, fit_params, parts)
        assert everything == len(parts)
        assert len(ours) == len(theirs)
        for own, refitted in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(own, refitted, rtol=0, atol=1e-8)
        return len(parts), refits

    def run(self, estimator, X, fit_params, parts):
        refits = []
        fit_and_score = fitting._fit_and_score

        def counted(*args):
            refits.append(args)
            return fit_and_score(*args)

        with self.monkeypatch.context() as patch:
            patch.setattr(fitting, "_fit_and_score", counted)
            fitter = Fitter(estimator, X, fit_params, np.random.RandomState(1))
            return fitter.held_out_scores(parts), len(refits)


@pytest.fixture
def both(monkeypatch):
    return Both(monkeypatch)


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
CONTINUOUS = [
    GaussianNB(),
    GaussianNB(var_smoothing=0.3),
    KNeighborsClassifier(),
    KNeighborsClassifier(9, weights="distance"),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2),
    LinearDiscriminantAnalysis(solver="eigen"),
    QuadraticDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(reg_param=0.2),
    QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1),
]


def ids(estimator):
    return str(estimator).replace("\n", "")


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda own: type(own).__name__)
@pytest.mark.parametrize("estimator", CONTINUOUS, ids=ids)
def test_scores_are_those_of_refits_with_one_refit(both, estimator, strategy):
    n_parts, refits = both(estimator, *make_rows(), strategy)
    assert n_parts >= 5
    assert refits == 1


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda own: type(own).__name__)
@pytest.mark.parametrize("estimator", DISCRETE, ids=ids)
def test_scores_from_counts_are_those_of_refits_with_one_refit(both, estimator, strategy):
    X, y = make_counts()
    if estimator.get_params().get("binarize", 0.0) is None:
        X = np.minimum(X, 1)
    assert both(estimator, X, y, strategy)[1] == 1


@pytest.mark.parametrize("estimator", [GaussianNB(), *DISCRETE], ids=ids)
def test_weights_count_as_they_do_in_a_refit(both, estimator):
    X, y = make_counts()
    if estimator.get_params().get("binarize", 0.0) is None:
        X = np.minimum(X, 1)
    weight = np.random.default_rng(1).exponential(size=len(y))
    weight[::10] = 0.0
    for strategy in STRATEGIES:
        refits = both(estimator, X, y, strategy, {"sample_weight": weight}, weight=weight)[1]
        assert refits == 1


def test_weights_that_naive_bayes_takes_for_nothing_are_left_to_it(both):
    X, y = make_rows()
    weight = np.where(y == 0, 1e-12, 1.0)
    n_parts, refits = both(GaussianNB(), X, y, Direct(), {"sample_weight": weight})
    assert refits == n_parts


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda own: type(own).__name__)
@pytest.mark.parametrize("name", ["gaussian", "multinomial", "linear", "quadratic"])
def test_priors_of_the_user_are_kept(both, name, strategy):
    priors = [0.2, 0.3, 0.5] if isinstance(strategy, Direct) else [0.2, 0.8]
    estimator = {
        "gaussian": GaussianNB(priors=priors),
        "multinomial": MultinomialNB(class_prior=priors),
        "linear": LinearDiscriminantAnalysis(priors=priors),
        "quadratic": QuadraticDiscriminantAnalysis(priors=priors),
    }[name]
    X, y = make_rows()
    assert both(estimator, np.abs(X) if name == "multinomial" else X, y, strategy)[1] == 1


def test_priors_that_do_not_sum_to_one_are_scaled_as_in_a_refit(both):
    estimator = LinearDiscriminantAnalysis(priors=[1.0, 3.0])
    with pytest.warns(UserWarning, match="Renormalizing"):
        assert both(estimator, *make_rows())[1] == 1


@pytest.mark.parametrize("estimator", CONTINUOUS, ids=ids)
@pytest.mark.parametrize("shift", [1e4, 1e6, 1e9])
def test_means_far_beyond_the_spread(both, estimator, shift):
    # A refit itself loses digits, and nobody else can tell which.
    X, y = make_rows()
    _, refits = both(estimator, X + shift, y)
    assert refits == 1 or shift > 1e4 or not isinstance(estimator, GaussianNB)


def test_variance_survives_a_held_out_outlier(both):
    # Without the outlier the variance is a 1e-20th of what it is with it.
    X, y = make_rows()
    X[7] = 1e10
    assert both(GaussianNB(var_smoothing=0.0), X, y)[1] < 5


def test_features_on_scales_far_apart(both):
    X, y = make_rows()
    X *= [1e-6, 1.0, 1e3, 1e6]
    for estimator in (
        GaussianNB(),
        LinearDiscriminantAnalysis(),
        make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis()),
    ):
        assert both(estimator, X, y)[1] == 1


def test_a_feature_that_varies_in_one_row_only(both):
    X, y = make_rows()
    X[:, 0] = 0.0
    X[5, 0] = 1.0
    for strategy in STRATEGIES:
        n_parts, refits = both(GaussianNB(), X, y, strategy)
        assert 1 <= refits < n_parts


def test_features_that_do_not_vary(both):
    X, y = make_rows()
    for constant in (0.0, 0.1):
        X[:, 0] = constant
        for estimator in (GaussianNB(), LinearDiscriminantAnalysis(), KNeighborsClassifier()):
            both(estimator, X, y)


@pytest.mark.parametrize("noise", [1e-12, 1e-8, 1e-4, 1e-2])
@pytest.mark.parametrize("solver", ["svd", "lsqr"])
def test_nearly_collinear_features(both, noise, solver):
    X, y = make_rows()
    X[:, 1] = X[:, 0] + noise * X[:, 1]
    both(LinearDiscriminantAnalysis(solver=solver), X, y)
    if noise >= 1e-4:
        both(QuadraticDiscriminantAnalysis(tol=0.0), X, y)


def test_more_features_than_rows(both):
    X, y = make_rows(40, 2, 60)
    assert both(LinearDiscriminantAnalysis(), X, y)[1] == 1
    assert both(KNeighborsClassifier(), X, y)[1] == 1


def test_discriminants_that_hardly_differ_are_dropped_as_in_a_refit(both):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 3)) + np.outer([0.0, 1.0, 3.0], [3.0, 2.0, 1.0])[y]
    for tol in (1e-4, 0.05, 0.3):
        assert both(LinearDiscriminantAnalysis(tol=tol), X, y, Direct())[1] == 1


METRICS = [
    {"p": 1},
    {"p": 3.5},
    {"metric": "chebyshev"},
    {"metric": "minkowski", "metric_params": {"w": [1.0, 2.0, 0.5, 3.0]}},
    {"metric": "seuclidean", "metric_params": {"V": [1.0, 2.0, 0.5, 3.0]}, "algorithm": "brute"},
    {"algorithm": "kd_tree", "leaf_size": 3},
    {"algorithm": "ball_tree"},
    {"algorithm": "brute"},
    {"n_neighbors": 1},
    {"n_neighbors": 40},
]


@pytest.mark.parametrize("weights", ["uniform", "distance", None])
@pytest.mark.parametrize("parameters", METRICS, ids=str)
def test_metrics_and_searches_of_neighbors(both, parameters, weights):
    estimator = KNeighborsClassifier(weights=weights, **parameters)
    assert both(estimator, *make_rows())[1] == 1


def test_metrics_and_weights_of_the_user_are_left_to_the_estimator(both):
    for parameters in (
        {"metric": lambda a, b: np.abs(a - b).max()},
        {"weights": lambda distance: 1.0 / (1.0 + distance)},
    ):
        n_parts, refits = both(KNeighborsClassifier(**parameters), *make_rows(45))
        assert refits == n_parts


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_tied_neighbors_are_chosen_as_in_a_refit(both, weights):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(80, 2)).astype(float)
    y = rng.integers(0, 3, size=80)
    for strategy in STRATEGIES:
        both(KNeighborsClassifier(3, weights=weights), X, y, strategy)
    X, y = load_iris(return_X_y=True)
    n_parts, refits = both(KNeighborsClassifier(weights=weights), X, y)
    # Ties of rows with one label need no refit.
    assert refits < n_parts / 2


def test_neighbors_that_are_the_same_row_twice(both):
    X, y = make_rows(40)
    X, y = np.r_[X, X], np.r_[y, y]
    assert both(KNeighborsClassifier(4, weights="distance"), X, y)[1] < 10


def test_searches_that_would_find_too_many_neighbors_are_left_to_the_estimator(both, monkeypatch):
    monkeypatch.setattr("calibrant.generation.closed_form.neighbors.MOST_NEIGHBORS", 90 * 20)
    X, y = make_rows()
    assert both(KNeighborsClassifier(1), X, y)[1] == 1
    n_parts, refits = both(KNeighborsClassifier(9), X, y)
    assert refits == n_parts


def test_labels_with_the_same_mean(both):
    X = np.array([0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 2.0, 1.0, 1.0])[:, None]
    y = np.arange(12) % 2
    splits = [(np.r_[:8], np.r_[8:12]), (np.r_[4:12], np.r_[:4]), (np.r_[1:12], np.r_[:1])]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        both(LinearDiscriminantAnalysis(), X, y, generator=CrossFit(splits))
    # Once in each way.
    assert len([w for w in caught if "invalid value" in str(w.message)]) in (0, 2)


def test_neighbors_hidden_behind_many_that_are_held_out(both):
    # The nearest neighbors are held out together, so that the search must widen.
    X, y = make_rows(120, 2)
    order = np.argsort(X[:, 0])
    X, y = X[order], y[order]
    X[:, 1:] = 0.0
    splits = [(np.r_[60:120], np.r_[:60]), (np.r_[:60], np.r_[60:120])]
    generator = CrossFit(splits)
    assert both(KNeighborsClassifier(3), X, y, generator=generator)[1] <= 2


def raised(estimator, X, fit_params, parts):
    with pytest.raises(Exception) as caught:  # noqa: PT011  # whatever a refit raises
        Fitter(estimator, X, fit_params, np.random.RandomState(0)).held_out_scores(parts)
    return caught.type, str(caught.value)


@pytest.mark.parametrize(
    ("estimator", "spoil"),
    [
        (GaussianNB(), lambda X: X + np.where(np.arange(len(X)) == 50, np.nan, 0.0)[:, None]),
        (
            KNeighborsClassifier(),
            lambda X: X + np.where(np.arange(len(X)) == 50, np.inf, 0.0)[:, None],
        ),
        (MultinomialNB(), lambda X: X - 1e3 * (np.arange(len(X)) == 50)[:, None]),
        (CategoricalNB(), lambda X: np.abs(X).astype(int) + 9 * (np.arange(len(X)) == 50)[:, None]),
        (GaussianNB(priors=[0.5, 0.6]), lambda X: X),
        (GaussianNB(var_smoothing=-1.0), lambda X: X),
        (KNeighborsClassifier(65), lambda X: X),
        (KNeighborsClassifier(metric="unheard-of"), lambda X: X),
        (QuadraticDiscriminantAnalysis(), lambda X: np.c_[X, X]),
        (LinearDiscriminantAnalysis(solver="eigen"), lambda X: np.zeros_like(X)),
        (LinearDiscriminantAnalysis(shrinkage=0.5), lambda X: X),
        (GaussianNB(), lambda X: sparse.csr_matrix(X)),
    ],
    ids=lambda value: ids(value) if hasattr(value, "fit") else "",
)
def test_errors_are_those_of_refits(monkeypatch, estimator, spoil):
    X, y = make_rows()
    X = spoil(np.abs(X))
    parts = make_parts(X, y, OneVsRest())
    ours = raised(estimator, X, {}, parts)
    monkeypatch.setattr(registry, "FORMS", {})
    assert ours == raised(estimator, X, {}, parts)


def test_what_an_estimator_warns_of_is_warned_of_once():
    X, y = make_counts()
    parts = make_parts(X, y, OneVsRest())
    fitter = Fitter(MultinomialNB(alpha=0.0, force_alpha=False), X, {}, np.random.RandomState(0))
    with pytest.warns(UserWarning, match="alpha too small") as caught:
        fitter.held_out_scores(parts)
    assert len(caught) == 1


def test_warnings_in_some_splits_only_are_given(both):
    # The only value of a feature is in training or not.
    X, y = make_rows()
    X[:, 0] = np.nan
    X[3, 0] = 1.0
    with pytest.warns(UserWarning, match="Skipping features"):
        both(make_pipeline(SimpleImputer(keep_empty_features=False), GaussianNB()), X, y)


def test_unsmoothed_counts_of_zero_are_left_to_the_estimator(both):
    X, y = make_counts()
    X[:, 0] = np.where(y == 0, X[:, 0], 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        for estimator in (MultinomialNB(alpha=0.0), BernoulliNB(alpha=0.0)):
            n_parts, refits = both(estimator, X, y)
            assert refits > n_parts / 4


class Contrary(GaussianNB):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]


def test_subclasses_are_refitted(both):
    n_parts, refits = both(Contrary(), *make_rows())
    assert refits == n_parts


def test_a_closed_form_that_disagrees_with_the_estimator_is_not_used(both, monkeypatch):
    form = registry.FORMS[GaussianNB]

    def slightly_off(estimator, block):
        for share, scores in form.scores(estimator, block):
            yield share, [np.clip(score + 1e-7, 0.0, 1.0) for score in scores]

    monkeypatch.setitem(registry.FORMS, GaussianNB, form._replace(scores=slightly_off))
    n_parts, refits = both(GaussianNB(), *make_rows())
    assert refits == n_parts


def test_a_closed_form_that_passes_the_first_part_by_is_still_checked(both, monkeypatch):
    form = registry.FORMS[GaussianNB]

    def partly(estimator, block):
        for share, scores in form.scores(estimator, block):
            yield share, [score + 0.1 if k else None for k, score in enumerate(scores)]

    monkeypatch.setitem(registry.FORMS, GaussianNB, form._replace(scores=partly))
    n_parts, refits = both(GaussianNB(), *make_rows())
    assert refits == n_parts


def test_a_closed_form_is_checked_where_scores_are_in_doubt(both, monkeypatch):
    form = registry.FORMS[GaussianNB]

    def too_bold(estimator, block):
        for share, scores in form.scores(estimator, block):
            yield share, [score**2 / (score**2 + (1.0 - score) ** 2) for score in scores]

    monkeypatch.setitem(registry.FORMS, GaussianNB, form._replace(scores=too_bold))
    X, y = make_rows(n_classes=2)
    X[:10] = np.where(y[:10] == 1, 30.0, -30.0)[:, None]
    splits = [(np.r_[10:90], np.r_[:10]), (np.r_[:50], np.r_[50:90]), (np.r_[:70], np.r_[70:90])]
    n_parts, refits = both(GaussianNB(), X, y, generator=CrossFit(splits))
    assert refits == n_parts


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.astype(np.float32),
        lambda X: X.astype(object),
        lambda X: pd.DataFrame(X).astype({0: np.float32}),
    ],
)
def test_what_is_not_double_precision_is_left_to_the_estimator(both, convert):
    X, y = make_rows(60)
    X = convert(X)
    n_parts, refits = both(GaussianNB(), X, y)
    assert refits == (1 if isinstance(X, pd.DataFrame) else n_parts)


@pytest.mark.parametrize(
    "estimator", [CONTINUOUS[0], CONTINUOUS[2], CONTINUOUS[4], DISCRETE[0]], ids=ids
)
def test_tables_of_other_kinds(both, estimator):
    counts, y = make_counts()
    names = [f"word {k}" for k in range(counts.shape[1])]
    for X in (pd.DataFrame(counts, columns=names), counts.tolist(), counts.astype(np.int8)):
        if isinstance(estimator, KNeighborsClassifier):
            both(estimator, X, y)  # many ties
        else:
            assert both(estimator, X, y)[1] == 1


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_counts(both, kind):
    X, y = make_counts()
    weight = np.linspace(1.0, 2.0, len(y))
    for estimator in (MultinomialNB(), ComplementNB(norm=True), BernoulliNB(binarize=1.0)):
        for strategy in STRATEGIES:
            assert both(estimator, kind(X), y, strategy, {"sample_weight": weight})[1] == 1
    n_parts, refits = both(KNeighborsClassifier(), kind(X), y)
    assert refits == n_parts


def test_what_fit_takes_beside_weights_is_left_to_the_estimator(both):
    X, y = make_rows()
    n_parts, refits = both(GaussianNB(), X, y, fit_params={"sample_weight": 2.0})
    assert refits == n_parts
    assert both(GaussianNB(), X, y, fit_params={"sample_weight": None})[1] == 1
    assert both(GaussianNB(), X, y, fit_params={"sample_weight": [1.5] * len(y)})[1] == 1


def test_rows_that_are_trained_on_twice_are_left_to_the_estimator(both):
    X, y = make_rows()
    splits = [(np.r_[:60, :20], np.r_[60:90]), (np.r_[30:90], np.r_[:30])]
    for estimator in (GaussianNB(), KNeighborsClassifier()):
        n_parts, refits = both(estimator, X, y, generator=CrossFit(splits))
        assert refits == n_parts


def test_rows_in_no_particular_order(both):
    X, y = make_rows()
    order = np.random.default_rng(0).permutation(90)
    splits = [(order[:50], order[60:]), (order[20:80], order[[5, 3, 3, 8]])]
    for estimator in CONTINUOUS:
        assert both(estimator, X, y, generator=CrossFit(splits))[1] == 1


def test_work_in_chunks_gives_the_same(both, monkeypatch):
    monkeypatch.setattr(registry, "MOST_NUMBERS", 1000)
    monkeypatch.setattr("calibrant.generation.closed_form.neighbors.MOST_NUMBERS", 100)
    for estimator in CONTINUOUS:
        assert both(estimator, *make_rows(), AllPairs())[1] == 1


SCALED = [
    make_pipeline(StandardScaler(), GaussianNB(var_smoothing=1e-3)),
    make_pipeline(MinMaxScaler(), GaussianNB(var_smoothing=1e-3)),
    make_pipeline(RobustScaler(), QuadraticDiscriminantAnalysis(reg_param=0.1)),
    make_pipeline(MaxAbsScaler(), LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3)),
    make_pipeline(StandardScaler(), MinMaxScaler(), LinearDiscriminantAnalysis()),
    make_pipeline("passthrough", Normalizer(), StandardScaler(), GaussianNB()),
    make_pipeline(Normalizer(), KNeighborsClassifier()),
    make_pipeline(Binarizer(), BernoulliNB()),
]
SHARED = [
    make_pipeline(StandardScaler(), KNeighborsClassifier()),
    make_pipeline(SimpleImputer(), StandardScaler(), LinearDiscriminantAnalysis()),
    make_pipeline(MinMaxScaler(), MultinomialNB()),
    make_pipeline(MinMaxScaler(clip=True), GaussianNB()),
    make_pipeline(OrdinalEncoder(), CategoricalNB(min_categories=95)),
    make_pipeline(OneHotEncoder(handle_unknown="ignore"), BernoulliNB()),
]


@pytest.mark.parametrize("estimator", SCALED, ids=ids)
def test_steps_that_scale_cost_no_refit(both, estimator):
    X, y = make_rows()
    X *= [1e-2, 1.0, 1.0, 1e2]
    for strategy in STRATEGIES:
        assert both(estimator, X, y, strategy)[1] == 1


@pytest.mark.parametrize("estimator", SHARED, ids=ids)
def test_steps_are_shared_by_problems_that_train_on_the_same_rows(both, estimator):
    X, y = make_rows()
    X = np.round(X, 1) if isinstance(estimator[0], OrdinalEncoder | OneHotEncoder) else X
    if isinstance(estimator[0], OrdinalEncoder):
        estimator.set_params(ordinalencoder__categories=[np.unique(column) for column in X.T])
    assert both(estimator, X, y, OneVsRest())[1] == 1
    n_parts, refits = both(estimator, X, y, Direct())
    assert refits == n_parts


def test_missing_values_behind_an_imputer(both):
    X, y = make_rows()
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.1] = np.nan
    assert both(make_pipeline(SimpleImputer(), GaussianNB()), X, y)[1] == 1


def test_weights_of_the_last_step(both):
    X, y = make_rows()
    weight = {"gaussiannb__sample_weight": np.linspace(1.0, 3.0, len(y))}
    assert both(make_pipeline(StandardScaler(), GaussianNB()), X, y, fit_params=weight)[1] == 1


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(SelectKBest(k=2), GaussianNB()),
        make_pipeline(StandardScaler(), Contrary()),
        make_pipeline(StandardScaler(), GaussianNB(), memory="cache"),
    ],
    ids=ids,
)
def test_other_steps_are_refitted(both, estimator, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    n_parts, refits = both(estimator, *make_rows())
    assert refits == n_parts


@st.composite
def cases(draw):
    n_classes = draw(st.integers(2, 4))
    y = np.r_[
        np.arange(n_classes),
        draw(st.lists(st.integers(0, n_classes - 1), min_size=12, max_size=30)),
    ]
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    n_features = draw(st.integers(1, 4))
    X = rng.normal(size=(len(y), n_features)) + y[:, None] * rng.normal(size=n_features)
    X = X * 10.0 ** rng.integers(-2, 3, size=n_features) + draw(st.sampled_from([0.0, 10.0, 1e4]))
    if draw(st.booleans()):
        X = np.round(X)
    strategy = draw(st.sampled_from(STRATEGIES if n_classes > 2 else [OneVsRest(), Direct()]))
    n_labels = n_classes if isinstance(strategy, Direct) else 2
    priors = draw(st.sampled_from([None, rng.dirichlet(np.ones(n_labels))]))
    weight = draw(
        st.sampled_from([None, rng.exponential(size=len(y)), rng.integers(1, 4, len(y)) * 1.0])
    )
    alpha = draw(st.sampled_from([1.0, 0.1, 1e-8]))
    shrinkage = draw(st.sampled_from([None, 0.0, 0.4]))
    estimator = draw(
        st.sampled_from(
            [
                GaussianNB(priors=priors, var_smoothing=draw(st.sampled_from([1e-9, 0.1]))),
                MultinomialNB(class_prior=priors, alpha=alpha, fit_prior=draw(st.booleans())),
                ComplementNB(alpha=alpha, norm=draw(st.booleans())),
                BernoulliNB(class_prior=priors, alpha=alpha, binarize=draw(st.floats(0.0, 2.0))),
                CategoricalNB(class_prior=priors, alpha=alpha, min_categories=9),
                KNeighborsClassifier(
                    draw(st.integers(1, 5)), weights=draw(st.sampled_from(["uniform", "distance"]))
                ),
                LinearDiscriminantAnalysis(priors=priors, tol=draw(st.sampled_from([1e-4, 0.1]))),
                LinearDiscriminantAnalysis(priors=priors, solver="lsqr", shrinkage=shrinkage),
                LinearDiscriminantAnalysis(priors=priors, solver="eigen", shrinkage=0.2),
                QuadraticDiscriminantAnalysis(priors=priors, reg_param=draw(st.floats(0.01, 0.9))),
                QuadraticDiscriminantAnalysis(priors=priors, solver="eigen", shrinkage=0.5),
            ]
        )
    )
    if isinstance(estimator, MultinomialNB | ComplementNB | CategoricalNB):
        X = np.minimum(np.abs(X), 8)
    takes_weight = hasattr(estimator, "alpha") or isinstance(estimator, GaussianNB)
    fit_params = {} if weight is None or not takes_weight else {"sample_weight": weight}
    return estimator, X, y, strategy, fit_params


def outcome(estimator, X, fit_params, parts):
    """Scores, or the error, and all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fitter = Fitter(estimator, X, fit_params, np.random.RandomState(0))
            scores = fitter.held_out_scores(parts)
        except (ValueError, IndexError, np.linalg.LinAlgError) as error:
            scores = f"{type(error)}: {error}"
    return scores, {str(warning.message) for warning in caught}


@given(cases())
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_a_refit_gives(case):
    estimator, X, y, strategy, fit_params = case
    parts = make_parts(X, y, strategy, generator=MonteCarloCV(n_points=40, group_size=None))
    ours, our_warnings = outcome(estimator, X, fit_params, parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "FORMS", {})
        theirs, their_warnings = outcome(estimator, X, fit_params, parts)
    assert our_warnings == their_warnings
    if isinstance(ours, str) or isinstance(theirs, str):
        assert ours == theirs
    else:
        for own, refitted in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(own, refitted, rtol=0, atol=1e-8)


def predict_both_ways(monkeypatch, model, X, y, X_new):
    """Predictions with closed forms and without, and the next random numbers."""

    def predict():
        rng = np.random.RandomState(0)
        proba = clone(model).set_params(random_state=rng).fit(X, y).predict_proba(X_new)
        return proba, rng.randint(2**31)

    ours = predict()
    with monkeypatch.context() as patch:
        patch.setattr(registry, "FORMS", {})
        return ours, predict()


@pytest.mark.parametrize("cv", [5, MonteCarloCV(n_points=400, group_size=20)], ids=str)
@pytest.mark.parametrize(
    ("estimator", "strategy", "method"),
    [
        (GaussianNB(), "one-vs-rest", "enir"),
        (LinearDiscriminantAnalysis(), "all-pairs", "sigmoid"),
        (KNeighborsClassifier(), "output-code", "isotonic"),
        (QuadraticDiscriminantAnalysis(), "direct", "temperature"),
        (make_pipeline(StandardScaler(), GaussianNB()), "direct", "auto"),
    ],
)
def test_calibrated_classifiers_are_the_same_without_closed_forms(
    monkeypatch, estimator, strategy, method, cv
):
    X, y = make_rows(60)
    model = CalibratedClassifier(estimator, method=method, strategy=strategy, cv=cv)
    X_new, _ = make_rows(40, seed=1)
    (ours, next_number), (theirs, same_number) = predict_both_ways(monkeypatch, model, X, y, X_new)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-8)
    assert next_number == same_number


def make_overconfident_rows():
    """Features that say the same ten times over, which naive Bayes takes for ten proofs."""
    X, y = make_rows(120)
    X = np.repeat(X, 10, axis=1)
    return X + np.random.default_rng(0).normal(scale=0.1, size=X.shape), y


def test_models_of_scores_that_are_all_but_certain(monkeypatch):
    X, y = make_overconfident_rows()
    cv = MonteCarloCV(n_points=2000, group_size=20)
    model = CalibratedClassifier(GaussianNB(), method="enir", strategy="one-vs-rest", cv=cv)
    (ours, _), (theirs, _) = predict_both_ways(monkeypatch, model, X, y, X)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-8)


@pytest.mark.parametrize("estimator", [GaussianNB(), CONTINUOUS[4], CONTINUOUS[7]], ids=ids)
def test_scores_that_are_all_but_certain_are_tied_as_in_refits(monkeypatch, estimator):
    # Near 1 there are few floating-point numbers: groups and steps depend on which are equal.
    y = np.arange(400) % 2
    X = np.random.default_rng(0).normal(size=(400, 2))
    X[:, 0] += 8.0 * y
    parts = make_parts(X, y, OneVsRest(), generator=MonteCarloCV(n_points=3000))

    def held_out_scores():
        fitter = Fitter(estimator, X, {}, np.random.RandomState(0))
        return np.concatenate(fitter.held_out_scores(parts))

    ours = held_out_scores()
    monkeypatch.setattr(registry, "FORMS", {})
    theirs = held_out_scores()
    nearly = (theirs > 1 - 1e-12) & (theirs < 1)
    assert nearly.sum() > 20
    # The last digit of a log density moves some scores to the next number.
    assert np.mean((ours == 1) == (theirs == 1)) > 0.999
    assert len(np.unique(ours[nearly])) < 2 * len(np.unique(theirs[nearly]))


def test_splits_that_come_again_count_again(monkeypatch):
    X, y = make_rows(8, 2, 2)
    problems = scoring_problems(
        OneVsRest().code(2, np.random.RandomState(0)), y, np.unique(y), np.ones(8, bool)
    )

    def generate():
        fitter = Fitter(GaussianNB(), X, {}, np.random.RandomState(0))
        return MonteCarloCV(n_points=500, group_size=None).generate(fitter, problems, y, np.ones(8))

    ours = generate()
    monkeypatch.setattr(registry, "FORMS", {})
    for own, refitted in zip(ours, generate(), strict=True):
        np.testing.assert_array_equal(own.rows, refitted.rows)
        np.testing.assert_allclose(own.score, refitted.score, rtol=0, atol=1e-8)


def test_several_jobs_give_the_same():
    X, y = make_rows(60)
    X[0] = X[1]
    fits = [
        CalibratedClassifier(KNeighborsClassifier(1), cv=5, n_jobs=n_jobs, random_state=0).fit(X, y)
        for n_jobs in (None, 2)
    ]
    np.testing.assert_array_equal(*(model.predict_proba(X) for model in fits))
