"""Small fitted models of every supported type, for tests of model files."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn import (
    calibration,
    compose,
    decomposition,
    discriminant_analysis,
    dummy,
    ensemble,
    feature_selection,
    frozen,
    gaussian_process,
    impute,
    isotonic,
    kernel_approximation,
    linear_model,
    model_selection,
    multiclass,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)
from sklearn.base import clone
from sklearn.gaussian_process import kernels

from calibrant import CalibratedClassifier, calibrators
from calibrant.generation import CrossFit, MonteCarloCV, OutOfBag, RepeatedFolds
from calibrant.updating import UpdatedClassifier

N_ROWS, N_FEATURES = 60, 4


class Fitted(NamedTuple):
    """A fitted model, and rows to apply it to."""

    name: str
    model: Any
    rows: Any


def make_rows(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of small counts, which all types accept, and labels."""
    y = np.arange(N_ROWS) % n_classes
    rows = np.random.default_rng(0).normal(size=(N_ROWS, N_FEATURES)) + y[:, None]
    return np.abs(rows).round().clip(max=4), np.array(["a", "b", "c"])[y]


X, Y = make_rows(3)
X2, Y2 = make_rows(2)
NUMBERS = np.arange(N_ROWS) % 3
SCORES = naive_bayes.GaussianNB().fit(X, Y).predict_proba(X)
NB = naive_bayes.GaussianNB()
LOGISTIC = linear_model.LogisticRegression(max_iter=50)
FRAME = pd.DataFrame(X, columns=list("pqrs")).assign(t=np.array(["u", "v", "w"])[NUMBERS])

CLASSIFIERS = [
    NB,
    naive_bayes.BernoulliNB(),
    naive_bayes.CategoricalNB(),
    naive_bayes.ComplementNB(),
    naive_bayes.MultinomialNB(),
    discriminant_analysis.LinearDiscriminantAnalysis(),
    discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1),
    discriminant_analysis.QuadraticDiscriminantAnalysis(reg_param=0.1),
    dummy.DummyClassifier(),
    LOGISTIC,
    linear_model.LogisticRegressionCV(Cs=2, cv=2, max_iter=30),
    linear_model.Perceptron(),
    linear_model.RidgeClassifier(),
    linear_model.RidgeClassifierCV(),
    linear_model.SGDClassifier(loss="log_loss", random_state=0),
    svm.LinearSVC(),
    svm.SVC(),
    svm.NuSVC(nu=0.1),
    neighbors.KNeighborsClassifier(),
    neighbors.KNeighborsClassifier(algorithm="ball_tree", metric="manhattan"),
    neighbors.KNeighborsClassifier(algorithm="brute", metric="chebyshev", weights="distance"),
    neighbors.KNeighborsClassifier(metric="seuclidean", metric_params={"V": np.ones(N_FEATURES)}),
    neighbors.RadiusNeighborsClassifier(100.0),
    neighbors.NearestCentroid(),
    tree.DecisionTreeClassifier(max_depth=3, random_state=0),
    tree.ExtraTreeClassifier(max_depth=3, random_state=0),
    ensemble.RandomForestClassifier(3, max_depth=3, random_state=0),
    ensemble.ExtraTreesClassifier(3, max_depth=3, random_state=0),
    ensemble.GradientBoostingClassifier(n_estimators=3, random_state=0),
    ensemble.HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5),
    ensemble.HistGradientBoostingClassifier(
        max_iter=3, min_samples_leaf=5, categorical_features=[0]
    ),
    neural_network.MLPClassifier((5,), max_iter=5, random_state=0),
    gaussian_process.GaussianProcessClassifier(1.0 * kernels.RBF(), optimizer=None),
    gaussian_process.GaussianProcessClassifier(
        kernels.Matern()
        + kernels.WhiteKernel()
        + kernels.DotProduct()
        + kernels.RationalQuadratic(),
        optimizer=None,
    ),
    ensemble.AdaBoostClassifier(n_estimators=3, random_state=0),
    ensemble.BaggingClassifier(NB, n_estimators=3, random_state=0),
    ensemble.VotingClassifier([("nb", NB), ("logistic", LOGISTIC)], voting="soft"),
    ensemble.StackingClassifier([("nb", NB), ("logistic", LOGISTIC)], cv=2),
    calibration.CalibratedClassifierCV(NB, cv=2),
    calibration.CalibratedClassifierCV(NB, cv=2, method="isotonic"),
    multiclass.OneVsOneClassifier(LOGISTIC),
    multiclass.OneVsRestClassifier(NB),
    multiclass.OutputCodeClassifier(LOGISTIC, random_state=0),
    model_selection.GridSearchCV(NB, {"var_smoothing": [1e-9, 1e-3]}, cv=2),
    model_selection.RandomizedSearchCV(NB, {"var_smoothing": [1e-9, 1e-3]}, n_iter=2, cv=2),
    pipeline.make_pipeline(preprocessing.StandardScaler(), NB),
    pipeline.make_pipeline(
        feature_selection.SelectKBest(k=2), preprocessing.SplineTransformer(), LOGISTIC
    ),
]
TRANSFORMERS = [
    preprocessing.StandardScaler(),
    preprocessing.MinMaxScaler(),
    preprocessing.MaxAbsScaler(),
    preprocessing.RobustScaler(),
    preprocessing.Normalizer(),
    preprocessing.Binarizer(),
    preprocessing.QuantileTransformer(n_quantiles=10),
    preprocessing.PowerTransformer(),
    preprocessing.PolynomialFeatures(2),
    preprocessing.SplineTransformer(),
    preprocessing.KBinsDiscretizer(3, strategy="uniform"),
    preprocessing.OneHotEncoder(handle_unknown="ignore"),
    preprocessing.OneHotEncoder(
        min_frequency=8, drop="first", handle_unknown="infrequent_if_exist"
    ),
    preprocessing.OrdinalEncoder(),
    preprocessing.OrdinalEncoder(
        min_frequency=8, handle_unknown="use_encoded_value", unknown_value=-1
    ),
    preprocessing.TargetEncoder(),
    preprocessing.FunctionTransformer(np.log1p),
    impute.SimpleImputer(add_indicator=True),
    impute.MissingIndicator(features="all"),
    impute.KNNImputer(),
    feature_selection.SelectKBest(feature_selection.chi2, k=2),
    feature_selection.SelectPercentile(percentile=50),
    feature_selection.SelectFpr(),
    feature_selection.SelectFdr(),
    feature_selection.SelectFwe(),
    feature_selection.VarianceThreshold(),
    feature_selection.SelectFromModel(LOGISTIC),
    feature_selection.RFE(LOGISTIC, n_features_to_select=2),
    decomposition.PCA(2),
    decomposition.TruncatedSVD(2, random_state=0),
    kernel_approximation.Nystroem(n_components=5, random_state=0),
    kernel_approximation.RBFSampler(n_components=5, random_state=0),
    compose.ColumnTransformer(
        [("scaled", preprocessing.StandardScaler(), [0, 1]), ("kept", "passthrough", [2])]
    ),
    pipeline.FeatureUnion([("scaled", preprocessing.StandardScaler())]),
]
REGRESSORS = [
    dummy.DummyRegressor(),
    linear_model.LinearRegression(),
    linear_model.Ridge(),
    linear_model.RidgeCV(),
    tree.DecisionTreeRegressor(max_depth=3, random_state=0),
    tree.ExtraTreeRegressor(max_depth=3, random_state=0),
    ensemble.RandomForestRegressor(3, max_depth=3, random_state=0),
    ensemble.ExtraTreesRegressor(3, max_depth=3, random_state=0),
    ensemble.GradientBoostingRegressor(n_estimators=3, random_state=0),
    svm.SVR(),
    svm.NuSVR(),
    svm.OneClassSVM(),
]
TABLE_MODEL = pipeline.make_pipeline(
    compose.make_column_transformer(
        (preprocessing.StandardScaler(), compose.make_column_selector(dtype_include="number")),
        (
            preprocessing.OneHotEncoder(handle_unknown="ignore"),
            compose.make_column_selector(pattern="t"),
        ),
    ),
    LOGISTIC,
)
CALIBRATED = {
    "default": {},
    "one-vs-rest": {
        "strategy": "one-vs-rest",
        "method": "enir",
        "cv": MonteCarloCV(n_points=200, group_size=20),
    },
    "all-pairs": {"strategy": "all-pairs", "method": "venn-abers", "cv": RepeatedFolds(3, 60)},
    "output-code": {
        "strategy": "output-code",
        "method": "beta",
        "cv": CrossFit(model_selection.RepeatedStratifiedKFold(n_splits=3, n_repeats=1)),
    },
    "pairwise": {"method": calibrators.PairwiseCalibrator(calibrators.ENIR()), "cv": 3},
    "isotonic": {"strategy": "one-vs-rest", "method": "isotonic", "cv": 3, "ensemble": True},
    "uncalibrated": {"method": None},
}


def fitted_models() -> Iterator[Fitted]:
    """Fit every model."""
    for estimator in CLASSIFIERS:
        yield _fitted(estimator, X, Y)
        yield _fitted(estimator, X2, Y2, " of two classes")
    for estimator in TRANSFORMERS:
        yield _fitted(estimator, X, Y)
    for estimator in REGRESSORS:
        yield _fitted(estimator, X, NUMBERS)
    yield _fitted(isotonic.IsotonicRegression(out_of_bounds="clip"), X[:, 0], NUMBERS)
    yield _fitted(svm.SVC(), csr_array(X), Y, " of sparse rows")
    yield _fitted(neighbors.KNeighborsClassifier(), csr_array(X), Y, " of sparse rows")
    yield _fitted(preprocessing.LabelEncoder(), Y, None)
    yield _fitted(preprocessing.LabelBinarizer(), Y, None)
    yield Fitted("a table model", TABLE_MODEL.fit(FRAME, Y), FRAME)
    yield from _calibrated_models()
    for name in calibrators.__all__:
        kind = getattr(calibrators, name)
        if hasattr(kind, "predict_proba"):
            yield _fitted(kind(), SCORES, NUMBERS)
        elif hasattr(kind, "fit"):
            yield _fitted(kind(), SCORES[:, 0], NUMBERS == 0)


def _calibrated_models() -> Iterator[Fitted]:
    for name, parameters in CALIBRATED.items():
        model = CalibratedClassifier(NB, random_state=0, **parameters).fit(X, Y)
        yield Fitted(f"CalibratedClassifier {name}", model, X)
    forest = ensemble.RandomForestClassifier(10, max_depth=2, random_state=0)
    model = CalibratedClassifier(forest, method="matrix", cv=OutOfBag(), random_state=0)
    yield Fitted("CalibratedClassifier out of bag", model.fit(X, Y), X)
    model = CalibratedClassifier(frozen.FrozenEstimator(NB.fit(X, Y)), random_state=0).fit(X, Y)
    yield Fitted("CalibratedClassifier frozen", model, X)
    updated = UpdatedClassifier(frozen.FrozenEstimator(model))
    yield Fitted("UpdatedClassifier", updated.fit(X, Y), X)


def _fitted(estimator: Any, rows: Any, labels: Any, suffix: str = "") -> Fitted:
    model = clone(estimator)
    model.fit(rows) if labels is None else model.fit(rows, labels)
    return Fitted(f"{type(model).__name__}{suffix}", model, rows)


def apply(model: Any, rows: Any) -> Any:
    """Apply a model to rows: its probabilities, predictions or transformed rows."""
    for method in ("predict_proba", "predict", "transform"):
        if hasattr(model, method):
            result = getattr(model, method)(rows)
            return result.toarray() if hasattr(result, "toarray") else np.asarray(result)
    raise AssertionError(f"{type(model).__name__} predicts nothing.")
