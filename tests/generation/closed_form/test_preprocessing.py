import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
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

from calibrant.strategies import Direct, OneVsRest

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


def name(pipeline):
    return ", ".join(str(step).replace("\n", "") for _, step in pipeline.steps)


@pytest.mark.parametrize("pipeline", SCALED, ids=name)
def test_scalers_and_stateless_steps_need_no_refit(compare, make_rows, pipeline, strategy):
    X, y = make_rows()
    assert compare(pipeline, X * [1e-2, 1.0, 1.0, 1e2], y, strategy).n_refits == 1


@pytest.mark.parametrize("pipeline", SHARED, ids=name)
def test_problems_with_the_same_training_rows_share_the_steps(compare, make_rows, pipeline):
    X, y = make_rows()
    if isinstance(pipeline[0], OrdinalEncoder | OneHotEncoder):
        X = np.round(X, 1)
    if isinstance(pipeline[0], OrdinalEncoder):
        pipeline.set_params(ordinalencoder__categories=[np.unique(column) for column in X.T])
    assert compare(pipeline, X, y, OneVsRest()).n_refits == 1
    comparison = compare(pipeline, X, y, Direct())
    assert comparison.n_refits == comparison.n_splits


def test_missing_values_are_imputed(compare, make_rows):
    X, y = make_rows()
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.1] = np.nan
    assert compare(make_pipeline(SimpleImputer(), GaussianNB()), X, y).n_refits == 1


@pytest.mark.parametrize(
    ("convert", "has_double_precision"),
    [
        (lambda X: X.astype(np.float32), False),
        (lambda X: X.astype(object), False),
        (lambda X: pd.DataFrame(X).astype({0: np.float32}), True),
        (lambda X: X * 1e80, False),
    ],
    ids=["float32", "object", "mixed", "huge"],
)
def test_features_without_double_precision_are_left_to_refits(
    compare, make_rows, convert, has_double_precision
):
    X, y = make_rows(60)
    comparison = compare(GaussianNB(), convert(X), y)
    assert comparison.n_refits == (1 if has_double_precision else comparison.n_splits)


@pytest.mark.parametrize(
    "estimator",
    [GaussianNB(), LinearDiscriminantAnalysis(), MultinomialNB(), KNeighborsClassifier()],
    ids=str,
)
@pytest.mark.parametrize(
    "convert",
    [
        lambda X: pd.DataFrame(X, columns=[f"word {k}" for k in range(X.shape[1])]),
        lambda X: X.tolist(),
        lambda X: X.astype(np.int8),
    ],
    ids=["frame", "list", "int8"],
)
def test_frames_lists_and_integers(compare, make_counts, estimator, convert):
    X, y = make_counts()
    comparison = compare(estimator, convert(X), y)
    # Neighbors have many ties in counts.
    assert comparison.n_refits == 1 or isinstance(estimator, KNeighborsClassifier)
