import pytest

pytest.importorskip("skl2onnx", reason="the extra 'onnx' is not installed")

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC, LinearSVC, NuSVC

from calibrant import CalibratedClassifier
from calibrant.onnx import largest_difference, to_onnx

X, Y = make_classification(
    200, 5, n_informative=4, n_redundant=0, n_classes=4, n_clusters_per_class=1, random_state=0
)
MODELS = [
    SVC(),
    SVC(kernel="linear"),
    SVC(kernel="poly", degree=2, coef0=1.0),
    SVC(kernel="sigmoid", gamma=0.01),
    NuSVC(nu=0.2, gamma="auto"),
    LinearSVC(random_state=0),
]


def frozen(model, X, y):
    return CalibratedClassifier(FrozenEstimator(model.fit(X, y)), method="enir").fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_decision_values_agree_in_double_precision(model, n_classes):
    rows = n_classes > Y
    calibrated = frozen(model, X[rows], Y[rows])
    new = np.random.default_rng(0).normal(scale=3.0, size=(500, X.shape[1]))
    assert largest_difference(to_onnx(calibrated), calibrated, new) < 1e-9


@pytest.mark.parametrize("n_classes", [2, 4])
def test_machines_fitted_to_sparse_matrices_agree(n_classes):
    rows = n_classes > Y
    model = frozen(SVC(), csr_matrix(X[rows]), Y[rows])
    assert largest_difference(to_onnx(model), model, X) < 1e-9


@pytest.mark.filterwarnings("ignore:The `probability` parameter was deprecated")
def test_probabilities_of_the_machine_itself_are_refused():
    model = frozen(SVC(probability=True, random_state=0), X, Y)
    with pytest.raises(ValueError, match=r"SVC .*SVMClassifier computes in float32"):
        to_onnx(model)


def test_distances_far_from_the_origin_lose_no_digits():
    shifted = X + 1e4
    model = frozen(SVC(), shifted, Y)
    assert largest_difference(to_onnx(model), model, shifted) < 1e-8


def test_a_kernel_of_ones_own_is_refused():
    model = frozen(SVC(kernel=lambda a, b: a @ b.T), X, Y)
    with pytest.raises(ValueError, match=r"kernel must be one of linear, poly, .* Fit the model"):
        to_onnx(model)
