import numpy as np
import pytest
from scipy.special import softmax, xlogy

from calibrant.metrics import brier_score, decompose, log_loss

SCORES = {"log-loss": log_loss, "brier": brier_score}
DISTORTIONS = {
    "calibrated": lambda logit: logit,
    "overconfident": lambda logit: 2.0 * logit,
    "underconfident": lambda logit: 0.5 * logit,
    "other class shares": lambda logit: logit + 0.7 * np.arange(logit.shape[1]),
}


def true_parts(score, true, proba):
    """Calibration and refinement of known true probabilities of each predicted row."""
    if score == "brier":
        return ((proba - true) ** 2).sum(axis=1).mean(), 1 - (true**2).sum(axis=1).mean()
    divergence = xlogy(true, true) - xlogy(true, proba)
    return divergence.sum(axis=1).mean(), -xlogy(true, true).sum(axis=1).mean()


@pytest.mark.parametrize("score", SCORES)
def test_parts_add_up_to_the_loss(score, predictions):
    y, proba, weight = predictions
    parts = decompose(y, proba, score=score, sample_weight=weight)
    assert parts.total == SCORES[score](y, proba, sample_weight=weight)
    assert parts.calibration + parts.refinement == pytest.approx(parts.total, rel=1e-14)


@pytest.mark.parametrize("distortion", DISTORTIONS)
@pytest.mark.parametrize("score", SCORES)
def test_parts_approach_the_true_ones(score, distortion, draw_labels):
    rng = np.random.default_rng(0)
    true = rng.dirichlet(np.ones(4), size=20_000)
    proba = softmax(DISTORTIONS[distortion](np.log(true)), axis=1)
    parts = decompose(draw_labels(rng, true), proba, score=score)
    calibration, refinement = true_parts(score, true, proba)
    assert parts.calibration == pytest.approx(calibration, abs=0.01)
    assert parts.refinement == pytest.approx(refinement, abs=0.02)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("distortion", ["calibrated", "overconfident"])
def test_parts_have_little_bias_with_few_rows(score, distortion, draw_labels):
    rng = np.random.default_rng(0)
    off = []
    for _ in range(60):
        true = rng.dirichlet(np.ones(3), size=150)
        proba = softmax(DISTORTIONS[distortion](np.log(true)), axis=1)
        found = decompose(draw_labels(rng, true), proba, score=score, labels=[0, 1, 2])
        off.append(found.calibration - true_parts(score, true, proba)[0])
    assert abs(np.mean(off)) < 0.015


def test_map_is_the_best_on_the_other_rows(predictions):
    """Against a general optimizer, on the same folds."""
    from scipy.optimize import minimize

    from calibrant.metrics.decomposition import _fit_map

    y, proba, weight = predictions
    logit, true = np.log(proba), np.searchsorted(list("abcd"), y)

    def loss(change):
        mapped = softmax((1 + change[0]) * logit + change[1:], axis=1)
        return -weight @ np.log(mapped[np.arange(len(y)), true]) + 0.5 * change @ change

    expected = minimize(loss, np.zeros(5), method="Nelder-Mead", options={"maxfev": 20_000}).fun
    assert loss(_fit_map(logit, true, weight)) <= expected + 1e-6


@pytest.mark.parametrize(
    ("y", "proba"),
    [
        (np.tile([0, 1, 2], 20), np.eye(3)[np.tile([0, 1, 2], 20)]),  # certain and right
        (np.tile([1, 2, 0], 20), np.eye(3)[np.tile([0, 1, 2], 20)]),  # certain and wrong
        ([0, 1], [[0.6, 0.4], [0.3, 0.7]]),
        ([0] * 30 + [1], [[0.9, 0.1]] * 31),
    ],
)
def test_extreme_rows_have_finite_parts(y, proba):
    for score in SCORES:
        parts = decompose(y, proba, score=score)
        assert np.isfinite([parts.total, parts.calibration, parts.refinement]).all()
        assert parts.refinement >= 0


def test_one_row_has_nothing_to_learn_from():
    parts = decompose([0], [[0.6, 0.4]], labels=[0, 1])
    assert parts.calibration == pytest.approx(0)
