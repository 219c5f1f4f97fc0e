"""Models that scikit-learn could not predict with, or that would predict NaN, are refused."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC

from calibrant import CalibratedClassifier, load, save
from calibrant.persistence.validation import validate_loaded_model
from calibrant.updating import UpdatedClassifier
from tests.persistence.zoo import FRAME, X2, X, Y

COLUMNS = make_column_transformer(
    (StandardScaler(), make_column_selector(dtype_include="number")), (OneHotEncoder(), ["t"])
)
PROCESS = GaussianProcessClassifier(ConstantKernel() * RBF(), optimizer=None)
CALIBRATED = CalibratedClassifier(GaussianNB(), cv=2, random_state=0)
VOTING = CalibratedClassifier(GaussianNB(), method="beta", cv=2, ensemble=True, random_state=0)


def set_item(items, place, value):
    items[place] = value


def set_columns(model, columns):
    name, transformer, _ = model.transformers_[0]
    model.transformers_[0] = (name, transformer, columns)


# An estimator, its rows, a change of the fitted model, and what the refusal says.
FORGERIES = {
    "neighbors without a number": (
        KNeighborsClassifier(),
        X,
        lambda m: setattr(m, "n_neighbors", None),
        "n_neighbors must be a whole number",
    ),
    "a search tree of sparse rows": (
        KNeighborsClassifier(),
        csr_array(X),
        lambda m: setattr(m, "_fit_method", "kd_tree"),
        "must be 'brute' for sparse rows",
    ),
    "class weights of another type": (
        SVC(),
        csr_array(X),
        lambda m: setattr(m, "class_weight_", m.class_weight_.astype(int)),
        "must be an array of double precision",
    ),
    "no parameter of a machine": (
        SVC(),
        csr_array(X),
        lambda m: setattr(m, "epsilon", None),
        "epsilon must be a number",
    ),
    "kernel without a part": (PROCESS, X, lambda m: delattr(m.kernel, "k1"), "kernel.k1 is miss"),
    "kernel of another type": (PROCESS, X, lambda m: setattr(m.kernel, "k1", GaussianNB()), "k1"),
    "process of another type": (
        PROCESS,
        X,
        lambda m: set_item(m.base_estimator_.estimators_, 0, GaussianNB().fit(X, Y == "a")),
        "must consist of Gaussian processes",
    ),
    "overflow in a process": (
        PROCESS,
        X,
        lambda m: set_item(m.base_estimator_.estimators_[0].W_sr_, 0, 1e99),
        "must have values from 0 to 0.5",
    ),
    "infinity in single precision": (
        LogisticRegression(),
        X,
        lambda m: setattr(m, "coef_", np.full(m.coef_.shape, -np.inf, np.float32)),
        "coef_ must have values",
    ),
    "centroids without deviations": (
        NearestCentroid(),
        X,
        lambda m: delattr(m, "within_class_std_dev_"),
        "within_class_std_dev_ is missing",
    ),
    "categories without probabilities": (
        CategoricalNB(),
        X,
        lambda m: set_item(m.feature_log_prob_, 0, m.feature_log_prob_[0][:, :2]),
        "do not match its categories",
    ),
    "forest without a template": (
        RandomForestClassifier(2, max_depth=1),
        X,
        lambda m: setattr(m, "estimator", None),
        "estimator must be DecisionTreeClassifier",
    ),
    "step that is not fitted": (
        make_pipeline(StandardScaler(), GaussianNB()),
        X,
        lambda m: set_item(m.steps, 0, ("standardscaler", StandardScaler())),
        r"\['standardscaler'\] is not fitted",
    ),
    "nested step that is not fitted": (
        make_pipeline(FeatureUnion([("scaled", StandardScaler())]), GaussianNB()),
        X,
        lambda m: set_item(m[0].transformer_list, 0, ("scaled", StandardScaler())),
        r"\['featureunion'\]\['scaled'\] is not fitted",
    ),
    "transformer that is not fitted": (
        COLUMNS,
        FRAME,
        lambda m: set_item(m.transformers_, 1, ("onehotencoder", OneHotEncoder(), ["t"])),
        r"\['onehotencoder'\] is not fitted",
    ),
    "columns that are no numbers": (
        make_column_transformer((StandardScaler(), [0, 1])),
        X,
        lambda m: set_columns(m, [0.0, 1.0]),
        "must have columns that exist",
    ),
    "columns of another fit": (
        COLUMNS,
        FRAME,
        lambda m: set_columns(m, ["p", "r", "q", "s"]),
        "must have the columns of its fit",
    ),
    "output of an unknown kind": (
        StandardScaler(),
        X,
        lambda m: setattr(m, "_sklearn_output_config", {"transform": 255}),
        "_sklearn_output_config",
    ),
    "polynomials of another number": (
        PolynomialFeatures(2),
        X,
        lambda m: setattr(m, "_n_out_full", 0),
        "another number of polynomials",
    ),
    "splines of another number": (
        SplineTransformer(),
        X,
        lambda m: setattr(m, "n_features_out_", m.n_features_out_ + X.shape[1]),
        r"bsplines_\[0\] does not match",
    ),
    "voter that does not predict": (
        VotingClassifier([("a", GaussianNB()), ("b", GaussianNB())]),
        X,
        lambda m: set_item(m.estimators_, 0, StandardScaler().fit(X)),
        r"estimators_\[0\] must have predict",
    ),
    "record in place of an estimator": (
        CALIBRATED,
        X,
        lambda m: set_item(m.estimators_, 0, m.calibration_report_),
        r"estimators_\[0\] must be a supported estimator",
    ),
    "ensemble without voters": (
        VOTING,
        X,
        lambda m: m.estimators_[0].estimators_.clear(),
        "estimators_",
    ),
    "calibrator of other classes": (
        CALIBRATED,
        X,
        lambda m: setattr(m.calibrators_[0], "classes_", np.arange(3.0)),
        "must have the classes of the model",
    ),
    "class without calibrators": (
        CALIBRATED,
        X,
        lambda m: set_item(m.calibrators_[0].class_count_, 0, 0.0),
        "must have calibrators of 2 classes",
    ),
    "update of an unfitted model": (
        UpdatedClassifier(FrozenEstimator(GaussianNB().fit(X, Y))),
        X,
        lambda m: setattr(m, "estimator", GaussianNB()),
        r"\['estimator'\] is not fitted",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_models_that_cannot_predict_are_refused(name):
    estimator, rows, forge, message = FORGERIES[name]
    model = clone(estimator).fit(rows, Y)
    validate_loaded_model(deepcopy(model))
    forge(model)
    with pytest.raises(ValueError, match=message):
        validate_loaded_model(model)


@pytest.mark.parametrize("extrapolation", ["constant", "periodic"])
@pytest.mark.parametrize("include_bias", [True, False])
@pytest.mark.parametrize("degree", [1, 3])
def test_transformers_of_all_shapes_are_kept(tmp_path, extrapolation, include_bias, degree):
    splines = SplineTransformer(
        n_knots=6, degree=degree, extrapolation=extrapolation, include_bias=include_bias
    )
    interactions = PolynomialFeatures(
        (1, degree), interaction_only=include_bias, include_bias=include_bias
    )
    for model in (splines.fit(X2), interactions.fit(X2)):
        save(model, tmp_path / "model.skops")
        loaded = load(tmp_path / "model.skops")
        np.testing.assert_array_equal(loaded.transform(X2), model.transform(X2))


def test_column_transformers_without_columns_of_a_kind_are_kept(tmp_path):
    columns = make_column_transformer(
        (StandardScaler(), ["p", "q"]),
        (OneHotEncoder(), make_column_selector(dtype_include="datetime")),
        (StandardScaler(), np.array([False] * 5)),
        ("passthrough", slice(2, 4)),
    ).fit(FRAME)
    save(columns, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    pd.testing.assert_frame_equal(
        pd.DataFrame(loaded.transform(FRAME)), pd.DataFrame(columns.transform(FRAME))
    )


def test_the_range_of_isotonic_regression_is_that_of_its_thresholds(save_unchecked, tmp_path):
    model = IsotonicRegression(out_of_bounds="clip").fit(X[:, 0], X[:, 1])
    expected = model.predict([-1.0, 2.5, 9.0])
    model.X_min_, model.X_max_ = -1.0, 9.0  # beyond the thresholds, predictions would be NaN
    save_unchecked(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").predict([-1, 2.5, 9]), expected)
