import pytest

pytest.importorskip("skl2onnx", reason="the extra 'onnx' is not installed")

import inspect

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from onnxruntime import InferenceSession
from sklearn.linear_model import LogisticRegression

from calibrant import calibrators
from calibrant.calibrators import (
    ENIR,
    AutoCalibrator,
    NoCalibration,
    OneVsRestCalibrator,
    PairwiseCalibrator,
    TemperatureScaling,
    UpdateCalibrator,
    VectorScaling,
    VennAbersCalibrator,
)
from calibrant.calibrators._base import BinaryCalibrator, MulticlassCalibrator
from calibrant.onnx import largest_difference, to_onnx
from experiments.onnx_differences import BINARY, CALIBRATORS, draw_scores, measure_calibrator

# The agreement that is promised is 1e-6, but both sides compute in float64.
CLOSE = 1e-9


def test_the_cases_include_every_public_calibrator():
    public = {
        each
        for each in vars(calibrators).values()
        if inspect.isclass(each) and issubclass(each, BinaryCalibrator | MulticlassCalibrator)
    }
    assert public == {type(each) for each in [*CALIBRATORS.values(), *BINARY.values()]}


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("name", CALIBRATORS)
def test_probabilities_agree_on_random_tied_and_extreme_scores(name, n_classes):
    assert measure_calibrator(CALIBRATORS[name], n_classes) < CLOSE


UNIT = st.floats(0.0, 1.0, allow_subnormal=True)


@settings(max_examples=25, deadline=None)
@given(data=st.data(), n_classes=st.integers(2, 5))
def test_probabilities_agree_whatever_the_scores(data, n_classes):
    name = data.draw(st.sampled_from(sorted(BINARY)))
    rows = st.lists(UNIT, min_size=n_classes, max_size=n_classes).filter(lambda row: sum(row) > 0)
    drawn = np.array(data.draw(st.lists(rows, min_size=2 * n_classes, max_size=20)))
    score = drawn / drawn.sum(axis=1, keepdims=True)
    y = np.arange(len(score)) % n_classes
    for kind in (OneVsRestCalibrator, PairwiseCalibrator):
        fitted = kind(BINARY[name]).fit(score, y)
        assert largest_difference(to_onnx(fitted), fitted, score) < CLOSE


def test_a_score_on_either_side_of_a_jump_is_not_moved_across_it():
    below, edge = 0.3, 0.5
    above = np.nextafter(edge, 1.0)
    column = np.repeat([below, edge, above], 20)
    y = np.repeat([0, 0, 1], 20)
    score = np.column_stack([1.0 - column, column])
    for binary in (ENIR(), VennAbersCalibrator()):
        fitted = OneVsRestCalibrator(binary).fit(score, y)
        proba = fitted.predict_proba(score)[:, 1]
        assert proba[20] < 0.1
        assert proba[40] > 0.9
        assert largest_difference(to_onnx(fitted), fitted, score) < CLOSE


def test_an_average_of_calibrators_of_a_model_and_an_ensemble_takes_both_scores():
    score, y, new = draw_scores(3, seed=1)
    rng = np.random.default_rng(0)
    votes = 0.5 * score + 0.5 * np.eye(3)[y] * 0.6 + 0.2 * rng.dirichlet(np.ones(3), len(y))
    votes /= votes.sum(axis=1, keepdims=True)
    fitted = AutoCalibrator({"temperature": TemperatureScaling(), "vector": VectorScaling()})
    fitted.fit(score, y, X_ensemble=votes)
    assert fitted.ensemble_calibrators_
    converted = to_onnx(fitted)
    assert [each.name for each in converted.graph.input] == ["X", "X_ensemble"]
    session = InferenceSession(converted.SerializeToString())
    _, proba = session.run(None, {"X": new, "X_ensemble": new[::-1].copy()})
    assert np.allclose(proba, fitted.predict_proba(new, new[::-1]), rtol=0, atol=CLOSE)


def test_classes_without_rows_are_averaged_as_by_the_calibrator():
    score, y, new = draw_scores(4, seed=2)
    kept = y != 2
    fitted = AutoCalibrator().fit(score[kept], y[kept])
    assert fitted.class_count_[2] == 0
    assert largest_difference(to_onnx(fitted), fitted, new) < CLOSE


@pytest.mark.parametrize("shift", [[0, 0, 0], [1.5, 0, -1.5]])
@pytest.mark.parametrize("slope", [1.0, 0.3])
def test_every_choice_of_an_update_is_exported(shift, slope):
    rng = np.random.default_rng(0)
    score = rng.dirichlet(np.ones(3), 400)
    logit = slope * np.log(score) + shift
    y = (logit + rng.gumbel(size=logit.shape)).argmax(axis=1)
    full = TemperatureScaling()
    fitted = UpdateCalibrator(full, n_resamples=19, alpha=0.1).fit(score, y)
    assert largest_difference(to_onnx(fitted), fitted, score) < CLOSE


def test_a_full_update_is_exported():
    score, y, new = draw_scores(3, seed=3)
    fitted = UpdateCalibrator(TemperatureScaling(), n_resamples=19, alpha=0.9).fit(score, y)
    assert fitted.calibrator_ is not None
    assert largest_difference(to_onnx(fitted), fitted, new) < CLOSE


class Doubled(NoCalibration):
    def _proba(self, score):
        return score**2


@pytest.mark.parametrize(
    ("calibrator", "name"),
    [
        (Doubled(), "Doubled"),
        (AutoCalibrator({"model": LogisticRegression()}), "LogisticRegression"),
        (OneVsRestCalibrator(LogisticRegression()), "LogisticRegression"),
    ],
)
def test_calibrators_of_other_types_are_refused(calibrator, name):
    rng = np.random.default_rng(0)
    score = rng.dirichlet(np.ones(3), 300)
    y = (score**3 + 0.1 * rng.uniform(size=score.shape)).argmax(axis=1)
    if isinstance(calibrator, OneVsRestCalibrator):
        fitted = OneVsRestCalibrator(ENIR()).fit(score, y)
        fitted.calibrators_ = [calibrator.calibrator] * 3
    else:
        fitted = calibrator.fit(score, y)
    with pytest.raises(ValueError, match=f"alibrators must be one of .*, got {name}. Fit"):
        to_onnx(fitted)
