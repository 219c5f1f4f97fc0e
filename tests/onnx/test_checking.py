import pytest

pytest.importorskip("skl2onnx", reason="the extra 'onnx' is not installed")

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibratedClassifier
from calibrant.calibrators import TemperatureScaling
from calibrant.datasets import make_waveform
from calibrant.onnx import largest_difference, to_onnx

SCORE = np.array([[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]] * 10)
Y = np.array([0, 1, 1] * 10)


def test_the_difference_is_that_of_the_probabilities():
    first = TemperatureScaling().fit(SCORE, Y)
    second = TemperatureScaling(penalty=100.0).fit(SCORE, Y)
    expected = np.abs(first.predict_proba(SCORE) - second.predict_proba(SCORE)).max()
    assert largest_difference(to_onnx(first), second, SCORE) == pytest.approx(expected, abs=1e-14)


def test_a_data_frame_is_passed_as_one_matrix_even_if_a_column_has_the_name_of_the_input():
    X, y = make_waveform(50, random_state=0)
    frame = pd.DataFrame(X[:, :3], columns=["X", "b", "c"])
    model = CalibratedClassifier(GaussianNB(), method=None).fit(frame, y)
    assert largest_difference(to_onnx(model), model, frame) < 1e-12
