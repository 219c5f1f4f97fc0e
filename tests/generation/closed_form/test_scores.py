import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import CalibratedClassifier
from calibrant.generation import MonteCarloCV
from calibrant.generation.closed_form import CLOSED_FORMS, neighbors, scores
from calibrant.strategies import AllPairs, Direct, OneVsRest, OutputCode

# Added in scikit-learn 1.8.
HAS_SOLVER = hasattr(QuadraticDiscriminantAnalysis(), "solver")
QDA_SHRINKAGE = {"solver": "eigen", "shrinkage": 0.5} if HAS_SOLVER else {}


def name(estimator):
    return str(estimator).replace("\n", "")


@pytest.fixture
def distort_naive_bayes(monkeypatch):
    """Make the closed form of GaussianNB return other scores than a refit."""

    def distort_naive_bayes(distort):
        form = CLOSED_FORMS[GaussianNB]

        def distorted(estimator, batch):
            for problem, split_scores in form.scores(estimator, batch):
                yield problem, [distort(k, score) for k, score in enumerate(split_scores)]

        monkeypatch.setitem(CLOSED_FORMS, GaussianNB, form._replace(scores=distorted))

    return distort_naive_bayes


def test_a_closed_form_that_differs_from_a_refit_is_not_used(
    compare, make_rows, distort_naive_bayes
):
    distort_naive_bayes(lambda k, score: np.clip(score + 1e-7, 0.0, 1.0))
    comparison = compare(GaussianNB(), *make_rows())
    assert comparison.n_refits == comparison.n_splits


def test_a_closed_form_is_checked_even_if_it_leaves_out_the_first_split(
    compare, make_rows, distort_naive_bayes
):
    distort_naive_bayes(lambda k, score: score + 0.1 if k else None)
    comparison = compare(GaussianNB(), *make_rows())
    assert comparison.n_refits == comparison.n_splits


def test_a_closed_form_is_checked_on_a_split_with_scores_away_from_0_and_1(
    compare, make_rows, distort_naive_bayes
):
    distort_naive_bayes(lambda k, score: score**2 / (score**2 + (1.0 - score) ** 2))
    X, y = make_rows(n_classes=2)
    X[:10] = np.where(y[:10] == 1, 30.0, -30.0)[:, None]
    splits = [(np.r_[10:90], np.r_[:10]), (np.r_[:50], np.r_[50:90]), (np.r_[:70], np.r_[70:90])]
    comparison = compare(GaussianNB(), X, y, splits=splits)
    assert comparison.n_refits == comparison.n_splits


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        KNeighborsClassifier(9, weights="distance"),
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
    ],
    ids=name,
)
def test_small_batches_give_the_same_scores(compare, make_rows, monkeypatch, estimator):
    monkeypatch.setattr(scores, "MAX_ARRAY_SIZE", 1000)
    monkeypatch.setattr(neighbors, "MAX_ARRAY_SIZE", 100)
    assert compare(estimator, *make_rows(), AllPairs()).n_refits == 1


def outcome(function):
    """Scores or an error, and the set of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function()
        except Exception as error:  # whatever scikit-learn raises
            result = f"{type(error)}: {error}"
    return result, {(warning.category, str(warning.message)) for warning in caught}


def row_50(value):
    return lambda X: X + np.where(np.arange(len(X)) == 50, value, 0.0)[:, None]


@pytest.mark.parametrize(
    ("estimator", "spoil"),
    [
        (GaussianNB(), row_50(np.nan)),
        (KNeighborsClassifier(), row_50(np.inf)),
        (MultinomialNB(), row_50(-1e3)),
        (CategoricalNB(), lambda X: row_50(9)(X.astype(int)).astype(int)),
        (GaussianNB(priors=[0.5, 0.6]), np.asarray),
        (GaussianNB(var_smoothing=-1.0), np.asarray),
        (KNeighborsClassifier(65), np.asarray),
        (KNeighborsClassifier(metric="unknown"), np.asarray),
        (QuadraticDiscriminantAnalysis(), lambda X: np.c_[X, X]),
        (LinearDiscriminantAnalysis(solver="eigen"), np.zeros_like),
        (LinearDiscriminantAnalysis(shrinkage=0.5), np.asarray),
        (GaussianNB(), sparse.csr_matrix),
    ],
    ids=lambda value: name(value) if hasattr(value, "fit") else "",
)
def test_errors_are_those_of_refits(make_case, make_rows, estimator, spoil):
    X, y = make_rows()
    case = make_case(estimator, spoil(np.abs(X)), y)
    expected, _ = outcome(case.refits)
    if not isinstance(expected, str):
        pytest.skip("this version of scikit-learn does not raise an error")
    error, _ = outcome(lambda: case.closed_form([]))
    assert error == expected


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (MultinomialNB(alpha=0.0, force_alpha=False), "alpha too small"),
        (
            make_pipeline(SimpleImputer(keep_empty_features=False), GaussianNB()),
            "Skipping features without any observed values",
        ),
    ],
    ids=["in every split", "in some splits"],
)
def test_warnings_are_those_of_refits(without_closed_form, make_counts, estimator, message):
    X, y = make_counts()
    X = X.astype(float)
    if not isinstance(estimator, MultinomialNB):
        X[:, 0] = np.nan
        X[3, 0] = 1.0  # the only value, in the training rows of some splits

    def warn(estimator):
        model = CalibratedClassifier(estimator, method="sigmoid", strategy="one-vs-rest", cv=3)
        with pytest.warns(UserWarning, match=message) as caught:
            model.set_params(random_state=0).fit(X, y)
        return [(warning.category, str(warning.message)) for warning in caught]

    assert warn(estimator) == warn(without_closed_form(estimator))


@st.composite
def cases(draw):
    n_classes = draw(st.integers(2, 4))
    # Two rows per class, so that every split can hold one out.
    y = np.r_[
        np.tile(np.arange(n_classes), 2),
        draw(st.lists(st.integers(0, n_classes - 1), min_size=12, max_size=30)),
    ]
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    n_features = draw(st.integers(1, 4))
    X = rng.normal(size=(len(y), n_features)) + y[:, None] * rng.normal(size=n_features)
    X = X * 10.0 ** rng.integers(-2, 3, size=n_features) + draw(st.sampled_from([0.0, 10.0, 1e4]))
    if draw(st.booleans()):
        X = np.round(X)
    for_many_classes = [AllPairs(), OutputCode()] if n_classes > 2 else []
    strategy = draw(st.sampled_from([OneVsRest(), Direct(), *for_many_classes]))
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
                QuadraticDiscriminantAnalysis(priors=priors, **QDA_SHRINKAGE),
            ]
        )
    )
    if isinstance(estimator, MultinomialNB | ComplementNB | CategoricalNB):
        X = np.minimum(np.abs(X), 8)
    accepts_weight = hasattr(estimator, "alpha") or isinstance(estimator, GaussianNB)
    fit_params = {"sample_weight": weight} if weight is not None and accepts_weight else {}
    return estimator, X, y, strategy, fit_params


@given(drawn=cases())
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
def test_random_cases_have_the_scores_errors_and_warnings_of_refits(make_case, drawn):
    estimator, X, y, strategy, fit_params = drawn
    case = make_case(estimator, X, y, strategy, fit_params=fit_params, n_splits=3)
    result, caught = outcome(lambda: case.closed_form([]))
    expected, expected_caught = outcome(case.refits)
    assert caught == expected_caught
    if isinstance(result, str) or isinstance(expected, str):
        assert result == expected
    else:
        for score, refit in zip(result, expected, strict=True):
            np.testing.assert_allclose(score, refit, rtol=0, atol=1e-8)


@pytest.fixture
def assert_same_predictions(without_closed_form):
    """Compare calibrated classifiers with and without closed forms, and their random numbers."""

    def assert_same_predictions(model, X, y, new):
        results = []
        for estimator in (model.estimator, without_closed_form(model.estimator)):
            rng = np.random.RandomState(0)
            fitted = clone(model).set_params(estimator=estimator, random_state=rng).fit(X, y)
            results.append((fitted.predict_proba(new), rng.randint(2**31)))
        (proba, next_number), (expected, expected_number) = results
        np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-8)
        assert next_number == expected_number

    return assert_same_predictions


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
    ids=str,
)
def test_calibrated_classifiers_predict_the_same_without_closed_forms(
    assert_same_predictions, make_rows, estimator, strategy, method, cv
):
    model = CalibratedClassifier(estimator, method=method, strategy=strategy, cv=cv)
    assert_same_predictions(model, *make_rows(60), make_rows(40, seed=1)[0])


def test_overconfident_scores_calibrate_the_same(assert_same_predictions, make_rows):
    # Naive Bayes counts ten copies of a feature as ten independent pieces of evidence.
    X, y = make_rows(120)
    X = np.repeat(X, 10, axis=1)
    X += np.random.default_rng(0).normal(scale=0.1, size=X.shape)
    cv = MonteCarloCV(n_points=2000, group_size=20)
    model = CalibratedClassifier(GaussianNB(), method="enir", strategy="one-vs-rest", cv=cv)
    assert_same_predictions(model, X, y, X)


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
def test_repeated_splits_count_repeatedly(assert_same_predictions, make_rows):
    cv = MonteCarloCV(n_points=500, group_size=None)
    model = CalibratedClassifier(GaussianNB(), method="sigmoid", strategy="one-vs-rest", cv=cv)
    X, y = make_rows(8, 2, 2)
    assert_same_predictions(model, X, y, X)


@pytest.mark.parametrize(
    "estimator",
    [GaussianNB(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()],
    ids=name,
)
def test_scores_close_to_1_are_tied_as_in_refits(make_case, estimator):
    # There are few floating-point numbers close to 1, and calibrators depend on ties.
    y = np.arange(400) % 2
    X = np.random.default_rng(0).normal(size=(400, 2))
    X[:, 0] += 8.0 * y
    case = make_case(estimator, X, y, n_splits=25)
    score, refit = np.concatenate(case.closed_form([])), np.concatenate(case.refits())
    close_to_1 = (refit > 1 - 1e-12) & (refit < 1)
    assert close_to_1.sum() > 20
    # A different last digit of a log density moves some scores to the next number.
    assert np.mean((score == 1) == (refit == 1)) > 0.99
    assert len(np.unique(score[close_to_1])) < 2 * len(np.unique(refit[close_to_1]))


@pytest.mark.usefixtures("always_start_workers")
def test_parallel_jobs_give_the_same_probabilities(make_rows):
    X, y = make_rows(60)
    X[0] = X[1]
    proba = [
        CalibratedClassifier(KNeighborsClassifier(1), cv=5, n_jobs=n_jobs, random_state=0)
        .fit(X, y)
        .predict_proba(X)
        for n_jobs in (None, 2)
    ]
    np.testing.assert_array_equal(*proba)
