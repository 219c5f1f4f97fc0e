import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from calibrant import CalibratedClassifier
from calibrant.calibrators import (
    ENIR,
    AutoCalibrator,
    BetaCalibrator,
    DirichletCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
    PairwiseCalibrator,
    SigmoidCalibrator,
    StructuredMatrixScaling,
    TemperatureScaling,
    VectorScaling,
    VennAbersCalibrator,
)
from calibrant.generation import MonteCarloCV
from experiments.preprocessing import DropNearZeroVariance

# Few points, since the checks fit hundreds of times.
SHORT = MonteCarloCV(n_points=200, group_size=10)
AUTO = CalibratedClassifier(GaussianNB(), cv=3)


def expected_to_fail(estimator):
    if estimator is not AUTO:
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": (
            "a row given twice is two rows to the inner splits that choose the pool"
        )
    }


# The checks fit on data of a few rows, which is what the warning is about.
@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@parametrize_with_checks(
    [
        AUTO,
        CalibratedClassifier(LogisticRegression(), strategy="one-vs-rest", cv=3),
        CalibratedClassifier(GaussianNB(), strategy="all-pairs", cv=SHORT),
        CalibratedClassifier(LinearSVC(), strategy="output-code", cv=3),
        CalibratedClassifier(GaussianNB(), method=LogisticRegression(), strategy="direct", cv=3),
        CalibratedClassifier(GaussianNB(), method="matrix", cv=3),
        CalibratedClassifier(GaussianNB(), method="enir", cv=3),
        CalibratedClassifier(GaussianNB(), method=None),
        DropNearZeroVariance(),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


# scikit-learn has few checks for estimators of one-dimensional input and says so; the
# same goes for its own IsotonicRegression.
@pytest.mark.filterwarnings("ignore:Can't test estimator")
@pytest.mark.parametrize(
    "calibrator",
    [
        ENIR(),
        SigmoidCalibrator(),
        BetaCalibrator(),
        IsotonicCalibrator(),
        HistogramCalibrator(),
        VennAbersCalibrator(),
    ],
    ids=repr,
)
def test_binary_calibrators_pass_the_checks_for_one_dimensional_input(calibrator):
    results = check_estimator(calibrator)
    assert results
    assert all(result["status"] == "passed" for result in results)


# These feed features, where a multi-class calibrator takes rows of probabilities, one column a
# class. Behind a CalibratedClassifier it passes them: see above.
FED_WITH_FEATURES = {
    "check_all_zero_sample_weights_error",
    "check_classifier_data_not_an_array",
    "check_classifiers_classes",
    "check_classifiers_one_label",
    "check_classifiers_one_label_sample_weights",
    "check_classifiers_regression_target",
    "check_classifiers_train",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_estimators_fit_returns_self",
    "check_estimators_nan_inf",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_pandas_series",
    "check_sample_weights_shape",
    "check_supervised_y_2d",
}


@pytest.mark.parametrize(
    "calibrator",
    [
        TemperatureScaling(),
        VectorScaling(),
        StructuredMatrixScaling(),
        DirichletCalibrator(),
        OneVsRestCalibrator(),
        PairwiseCalibrator(),
        AutoCalibrator(),
    ],
    ids=repr,
)
def test_multiclass_calibrators_pass_all_checks_but_those_that_feed_features(calibrator):
    reason = "rows of features are no rows of probabilities"
    results = check_estimator(
        calibrator,
        expected_failed_checks=dict.fromkeys(FED_WITH_FEATURES, reason),
        on_skip=None,
    )
    failed = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert failed == FED_WITH_FEATURES
    passed = [result for result in results if result["status"] == "passed"]
    assert len(passed) > 20
