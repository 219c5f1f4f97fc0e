import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from calibrant import CalibratedClassifier
from calibrant.bench.preprocessing import DropNearZeroVariance
from calibrant.calibrators import ENIR
from calibrant.generation import MonteCarloCV

# Few points, since the checks fit hundreds of times.
SHORT = MonteCarloCV(n_points=200, group_size=10)


# The checks fit on data of a few rows, which is what the warning is about.
@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@parametrize_with_checks(
    [
        CalibratedClassifier(LogisticRegression(), cv=3),
        CalibratedClassifier(GaussianNB(), strategy="all-pairs", cv=SHORT),
        CalibratedClassifier(LinearSVC(), strategy="output-code", cv=3),
        CalibratedClassifier(GaussianNB(), method=LogisticRegression(), strategy="direct", cv=3),
        CalibratedClassifier(GaussianNB(), method=None),
        DropNearZeroVariance(),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


# scikit-learn has few checks for estimators of one-dimensional input and says so; the
# same goes for its own IsotonicRegression.
@pytest.mark.filterwarnings("ignore:Can't test estimator ENIR")
def test_enir_passes_the_checks_for_one_dimensional_input():
    results = check_estimator(ENIR())
    assert results
    assert all(result["status"] == "passed" for result in results)
