"""scikit-learn's checks of estimators, on every estimator of the package."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from calibrant import CalibratedClassifier, calibrators
from calibrant.generation import MonteCarloCV

# Few points, since the checks fit hundreds of times.
FEW_POINTS = MonteCarloCV(n_points=200, group_size=10)
DEFAULT_METHOD = CalibratedClassifier(GaussianNB(), cv=3)
CALIBRATORS = [
    getattr(calibrators, name)()
    for name in calibrators.__all__
    if hasattr(getattr(calibrators, name), "fit")
]


def expected_failed_checks(estimator):
    if estimator is not DEFAULT_METHOD:
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": (
            "the folds in which candidates are compared depend on the number of rows, so that "
            "weighted and repeated rows are split differently"
        )
    }


# The checks fit on few rows, which the warning is about.
@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@parametrize_with_checks(
    [
        DEFAULT_METHOD,
        CalibratedClassifier(LogisticRegression(), strategy="one-vs-rest", cv=3),
        CalibratedClassifier(GaussianNB(), strategy="all-pairs", cv=FEW_POINTS),
        CalibratedClassifier(LinearSVC(), strategy="output-code", cv=3),
        CalibratedClassifier(GaussianNB(), method=LogisticRegression(), strategy="direct", cv=3),
        CalibratedClassifier(GaussianNB(), method="matrix", cv=3),
        CalibratedClassifier(GaussianNB(), method="enir", cv=3),
        CalibratedClassifier(GaussianNB(), method=None),
    ],
    expected_failed_checks=expected_failed_checks,
)
def test_calibrated_classifiers_pass_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


# scikit-learn skips most checks of estimators of one-dimensional input, such as its own
# IsotonicRegression, and warns that it does.
@pytest.mark.filterwarnings("ignore:Can't test estimator")
@pytest.mark.parametrize(
    "calibrator",
    [calibrator for calibrator in CALIBRATORS if not hasattr(calibrator, "predict_proba")],
    ids=repr,
)
def test_binary_calibrators_pass_the_checks_of_one_dimensional_input(calibrator):
    results = check_estimator(calibrator)
    assert "check_estimator_cloneable" in {result["check_name"] for result in results}
    assert {result["status"] for result in results} == {"passed"}


# Checks that fit on features, whereas multi-class calibrators take rows of probabilities, one
# column per class. Some are checked above as methods of a CalibratedClassifier.
FIT_ON_FEATURES = {
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
# Checks that need no fit.
NOT_FITTED = {
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
}


@pytest.mark.parametrize(
    "calibrator",
    [calibrator for calibrator in CALIBRATORS if hasattr(calibrator, "predict_proba")],
    ids=repr,
)
def test_multiclass_calibrators_pass_the_checks_that_do_not_fit_on_features(calibrator):
    reason = "features are not rows of probabilities"
    results = check_estimator(
        calibrator,
        expected_failed_checks=dict.fromkeys(FIT_ON_FEATURES, reason),
        on_skip=None,
    )
    assert {result["check_name"] for result in results if result["status"] == "passed"} > NOT_FITTED
