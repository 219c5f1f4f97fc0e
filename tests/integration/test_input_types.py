"""Data frames, sparse matrices, texts, labels, weights and mistakes in calls to fit."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from calibrant import CalibratedClassifier
from calibrant.datasets import make_waveform
from calibrant.exceptions import CalibrationWarning


@pytest.fixture
def rows():
    return make_waveform(120, random_state=0)


def make_model(estimator=None, **options):
    options = {"cv": 3, "random_state": 0} | options
    return CalibratedClassifier(estimator or GaussianNB(), **options)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_keep_their_names(frame, rows):
    X, y = rows
    names = [f"feature {number}" for number in range(X.shape[1])]
    table = frame(dict(zip(names, X.T, strict=True)))
    model = make_model().fit(table, y)
    assert list(model.feature_names_in_) == names
    assert list(model.estimators_[0].feature_names_in_) == names
    np.testing.assert_allclose(
        model.predict_proba(table), make_model().fit(X, y).predict_proba(X), rtol=0, atol=1e-10
    )
    with pytest.raises(ValueError, match=r"(?s)feature names.*Pass the same columns as in fit"):
        model.predict_proba(frame(dict(zip(reversed(names), X.T, strict=True))))


def test_pipelines_can_select_columns_by_name(rows):
    X, y = rows
    table = pd.DataFrame(X[:, 9:12], columns=["a", "b", "c"], index=np.arange(len(y)) + 500)
    table["kind"] = pd.Categorical(np.where(X[:, 0] > 0, "high", "low"))
    pick = make_column_transformer((OneHotEncoder(), ["kind"]), (StandardScaler(), ["a", "b", "c"]))
    pipeline = make_pipeline(pick, LogisticRegression())
    calibrated = make_model(pipeline).fit(table, pd.Series(y))
    assert calibrated.score(table, y) > 0.5
    uncalibrated = make_model(pipeline, method=None).fit(table, pd.Series(y))
    np.testing.assert_allclose(
        uncalibrated.predict_proba(table), pipeline.fit(table, y).predict_proba(table)
    )


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_and_dense_rows_predict_the_same(layout, kind, rows):
    X, y = rows
    X = np.abs(X).round()
    estimator = MultinomialNB()
    from_sparse = make_model(estimator).fit(kind(X).asformat(layout), y)
    from_dense = make_model(estimator).fit(X, y)
    np.testing.assert_allclose(
        from_sparse.predict_proba(sparse.csr_matrix(X)), from_dense.predict_proba(X)
    )


def test_text_is_passed_to_pipelines():
    texts = ["good fine great", "bad awful", "so so meh"] * 12
    labels = ["up", "down", "even"] * 12
    model = make_model(make_pipeline(TfidfVectorizer(), LogisticRegression())).fit(texts, labels)
    assert list(model.predict(["great", "awful"])) == ["up", "down"]
    as_array = np.array(texts, dtype=object)
    assert make_model(model.estimator).fit(as_array, labels).predict(["meh"]) == ["even"]


def test_missing_values_are_passed_to_the_estimator(rows):
    X, y = rows
    X = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.1, np.nan, X)
    model = make_model(HistGradientBoostingClassifier(max_iter=5)).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(
    "names",
    [
        np.array(["z", "b", "m"]),
        np.array(["z", "b", "m"], dtype=object),
        np.array([30, -4, 7]),
        np.array([30, -4, 7], dtype=object),
        np.array([0.0, 2.0, 5.0]),
    ],
    ids=["strings", "objects", "integers", "integer objects", "floats"],
)
@pytest.mark.parametrize("strategy", ["one-vs-rest", "all-pairs"])
def test_labels_of_any_kind(names, strategy, rows):
    X, y = rows
    model = make_model(strategy=strategy).fit(X, names[y])
    np.testing.assert_array_equal(model.classes_, np.unique(names))
    assert model.predict(X).dtype.kind in (names.dtype.kind, "i")
    plain = make_model(strategy=strategy, method=None).fit(X, y).predict_proba(X)
    renamed = make_model(strategy=strategy, method=None).fit(X, names[y]).predict_proba(X)
    np.testing.assert_allclose(renamed, plain[:, np.argsort(names)], rtol=0, atol=1e-12)


def test_boolean_labels(rows):
    X, y = rows
    model = make_model().fit(X, y == 1)
    np.testing.assert_array_equal(model.classes_, [False, True])
    assert model.score(X, y == 1) > 0.8


def test_class_weights_by_label_keep_their_meaning(rows):
    X, y = rows
    names = np.array(["a", "b", "c"])[y]
    plain = LogisticRegression(max_iter=1000)
    heavy = LogisticRegression(max_iter=1000, class_weight={"a": 50.0, "b": 1.0, "c": 1.0})
    for strategy in ("all-pairs", "direct"):
        even = make_model(plain, strategy=strategy, method=None).fit(X, names)
        uneven = make_model(heavy, strategy=strategy, method=None).fit(X, names)
        assert uneven.predict_proba(X)[:, 0].mean() > even.predict_proba(X)[:, 0].mean()
    with pytest.raises(ValueError, match=r"given by label .* Use strategy='all-pairs'"):
        make_model(make_pipeline(StandardScaler(), heavy), strategy="one-vs-rest").fit(X, names)


def test_estimators_see_consecutive_labels_from_zero(rows):
    class Strict(GaussianNB):
        """Accepts only the labels 0, 1, ..., as some gradient boosting libraries do."""

        def fit(self, X, y):
            assert set(y) == set(range(len(set(y))))
            return super().fit(X, y)

    X, y = rows
    for strategy in ("one-vs-rest", "all-pairs", "output-code"):
        make_model(Strict(), strategy=strategy).fit(X, np.array(["x", "y", "z"])[y])


def test_integer_weights_are_equivalent_to_repeated_rows(rows):
    X, y = rows
    weight = np.random.default_rng(0).integers(0, 4, size=len(y))
    fold = np.arange(len(y)) % 3
    again = np.repeat(np.arange(len(y)), weight)

    def splits(folds):
        return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]

    # Not for "auto", whose inner splits depend on the number of rows.
    for options in ({"strategy": "one-vs-rest"}, {"method": "matrix"}, {"method": "enir"}):
        weighted = make_model(cv=splits(fold), **options).fit(X, y, sample_weight=weight)
        repeated = make_model(cv=splits(fold[again]), **options).fit(X[again], y[again])
        np.testing.assert_allclose(
            weighted.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=1e-8
        )


def test_weights_that_sum_to_one_do_not_count_as_a_single_row(rows):
    X, y = rows
    shares = make_model().fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    plain = make_model().fit(X, y)
    np.testing.assert_allclose(shares.predict_proba(X), plain.predict_proba(X), rtol=0, atol=1e-9)


def test_a_class_of_weight_zero_is_left_out(rows):
    X, y = rows
    model = make_model().fit(X, y, sample_weight=(y != 2).astype(float))
    np.testing.assert_array_equal(model.classes_, [0, 1])


def test_weights_that_the_estimator_does_not_accept_are_used_only_in_calibration(rows):
    X, y = rows
    model = make_model(KNeighborsClassifier(), method="matrix")
    with pytest.warns(
        CalibrationWarning, match="KNeighborsClassifier.fit does not accept sample_weight"
    ) as caught:
        model.fit(X, y, sample_weight=np.where(y == 0, 10.0, 1.0))
    assert caught[0].filename == __file__
    unweighted = make_model(KNeighborsClassifier(), method="matrix").fit(X, y)
    np.testing.assert_array_equal(
        model.predict_uncalibrated_proba(X), unweighted.predict_uncalibrated_proba(X)
    )
    assert model.predict_proba(X)[:, 0].mean() > unweighted.predict_proba(X)[:, 0].mean() + 0.05


def test_fit_params_are_restricted_to_the_rows_of_each_fit(rows):
    X, y = rows
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    pipeline = make_pipeline(StandardScaler(), GaussianNB())
    scaled = StandardScaler().fit_transform(X)
    for strategy, labels in (("one-vs-rest", y == 0), ("direct", y)):
        model = make_model(pipeline, strategy=strategy)
        model.fit(X, y, gaussiannb__sample_weight=weight)
        expected = GaussianNB().fit(scaled, labels, sample_weight=weight)
        np.testing.assert_allclose(model.estimators_[0][-1].theta_, expected.theta_)


def test_metadata_routing_passes_weights_and_groups_where_requested(rows):
    X, y = rows
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    groups = np.arange(len(y)) // 3
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            GaussianNB().set_fit_request(sample_weight=True),
        )
        model = CalibratedClassifier(pipeline, strategy="one-vs-rest", cv=GroupKFold(3))
        model.fit(X, y, sample_weight=weight, groups=groups)
        expected = GaussianNB().fit(StandardScaler().fit_transform(X), y == 0, weight)
        np.testing.assert_allclose(model.estimators_[0][-1].theta_, expected.theta_)

        model.set_fit_request(sample_weight=True, groups=True)
        model.set_score_request(sample_weight=False)
        results = cross_validate(
            model, X, y, cv=3, params={"sample_weight": weight, "groups": groups}
        )
        assert (results["test_score"] > 0.5).all()
        plain = CalibratedClassifier(GaussianNB().set_fit_request(sample_weight=False), cv=3)
        plain.fit(X, y, sample_weight=weight, groups=groups)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": lambda y: None}, "requires y to be passed"),
        ({"y": lambda y: np.where(y == 0, np.nan, y)}, r"Input y contains NaN .* Drop those rows"),
        (
            {"y": lambda y: np.where(y == 0, None, "b")},
            r"Input y contains NaN or None in \d+ of 120",
        ),
        ({"y": lambda y: [pd.NA, *y[1:]]}, "Input y contains NaN or None in 1 of 120"),
        ({"y": lambda y: np.zeros_like(y)}, r"at least two classes, got one class: \[0\]\. Add"),
        ({"y": lambda y: np.arange(len(y))}, r"got 120 rows and 120 classes\. Add rows or merge"),
        ({"y": lambda y: y + 0.5}, "Unknown label type"),
        (
            {"y": lambda y: np.array(["a", *y.tolist()[1:]], dtype=object)},
            "one type, got int and str",
        ),
        ({"y": lambda y: y[:-1]}, r"inconsistent numbers of samples: \[120, 119\]"),
        ({"sample_weight": lambda y: -np.ones(len(y))}, r"must not be negative, got -1\. To"),
        ({"sample_weight": lambda y: np.zeros(len(y))}, "got only zeros"),
        ({"sample_weight": lambda y: np.full(len(y), np.nan)}, "NaN"),
        ({"sample_weight": lambda y: np.ones(3)}, "inconsistent numbers of samples"),
        ({"sample_weight": lambda y: np.full(len(y), 1e308)}, r"got values from 1e\+308"),
        ({"y": lambda y: []}, "at least one label"),
        ({"groups": lambda y: np.ones(3)}, "inconsistent numbers of samples"),
        ({"groups": lambda y: np.where(y == 0, None, "a")}, r"NaN or None in \d+ of 120 rows"),
        ({"groups": lambda y: np.where(y == 0, np.nan, 1.0)}, "groups must hold a group"),
    ],
)
def test_invalid_input_raises_an_error_with_a_remedy(change, message, rows):
    X, y = rows
    arguments = {"y": y} | {name: make(y) for name, make in change.items()}
    with pytest.raises(ValueError, match=message):
        make_model().fit(X, **arguments)


def test_missing_features_raise_an_error(rows):
    with pytest.raises(ValueError, match=r"X must hold one row for each label, got None"):
        make_model().fit(None, rows[1])


def test_a_different_number_of_features_raises_an_error(rows):
    X, y = rows
    model = make_model().fit(X, y)
    with pytest.raises(ValueError, match=r"5 features, but .* 21 features .* Pass the same"):
        model.predict_proba(X[:, :5])


def test_rows_without_a_score_get_the_class_frequencies(rows):
    class Blind(GaussianNB):
        """Returns NaN if the first feature is negative."""

        def predict_proba(self, X):
            proba = super().predict_proba(X)
            proba[X[:, 0] < 0] = np.nan
            return proba

    X, y = rows
    for method in ("auto", "enir", None):
        model = make_model(Blind(), method=method).fit(X, y)
        blind = X[:, 0] < 0
        with pytest.warns(CalibrationWarning, match=rf"NaN for {blind.sum()} of 120 rows"):
            proba = model.predict_proba(X)
        np.testing.assert_allclose(proba[blind], np.tile(np.bincount(y) / 120, (blind.sum(), 1)))
        np.testing.assert_allclose(proba[~blind], model.predict_proba(X[~blind]))


def test_predicting_before_fitting_raises_an_error(rows):
    with pytest.raises(NotFittedError):
        make_model().predict_proba(rows[0])


def test_input_is_not_changed(rows):
    X, y = rows
    weight = np.ones(len(y)) / 2
    before = X.copy(), y.copy(), weight.copy()
    make_model().fit(X, y, sample_weight=weight).predict_proba(X)
    for old, new in zip(before, (X, y, weight), strict=True):
        np.testing.assert_array_equal(old, new)
