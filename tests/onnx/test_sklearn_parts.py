import pytest

pytest.importorskip("skl2onnx", reason="the extra 'onnx' is not installed")

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, RobustScaler

from calibrant import CalibratedClassifier
from calibrant.onnx import largest_difference, to_onnx

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = (X[:, 0] + RNG.normal(size=80) > 0).astype(int)


def frozen(model):
    return CalibratedClassifier(FrozenEstimator(model.fit(X, Y)), method="temperature").fit(X, Y)


def test_features_of_transformers_keep_double_precision():
    model = frozen(make_pipeline(RobustScaler(), GaussianNB()))
    assert largest_difference(to_onnx(model), model, X) < 1e-9


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (GaussianProcessClassifier(), "GaussianProcessClassifier .it uses operators of com"),
        (make_pipeline(FunctionTransformer(np.sin), GaussianNB()), "FunctionTransformer"),
    ],
)
def test_what_is_not_converted_is_named(model, reason):
    with pytest.raises(ValueError, match=f"It does not convert {reason}"):
        to_onnx(frozen(model))
