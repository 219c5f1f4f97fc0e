import json

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax, xlogy

from calibrant.metrics import brier_score, decompose, log_loss

SCORES = {"log-loss": log_loss, "brier": brier_score}
DISTORTIONS = {
    "calibrated": lambda logit: logit,
    "overconfident": lambda logit: 2.0 * logit,
    "underconfident": lambda logit: 0.5 * logit,
    "shifted class frequencies": lambda logit: logit + 0.7 * np.arange(logit.shape[1]),
}


def true_parts(score, true, proba):
    """Calibration and refinement, given the conditional class probabilities."""
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
def test_parts_converge_to_the_true_values(score, distortion, draw_labels):
    rng = np.random.default_rng(0)
    true = rng.dirichlet(np.ones(4), size=20_000)
    proba = softmax(DISTORTIONS[distortion](np.log(true)), axis=1)
    parts = decompose(draw_labels(rng, true), proba, score=score)
    calibration, refinement = true_parts(score, true, proba)
    assert parts.calibration == pytest.approx(calibration, abs=0.01)
    assert parts.refinement == pytest.approx(refinement, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("distortion", ["calibrated", "overconfident"])
def test_parts_have_little_bias_with_few_rows(score, distortion, draw_labels):
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(60):
        true = rng.dirichlet(np.ones(3), size=150)
        proba = softmax(DISTORTIONS[distortion](np.log(true)), axis=1)
        found = decompose(draw_labels(rng, true), proba, score=score, labels=[0, 1, 2])
        errors.append(found.calibration - true_parts(score, true, proba)[0])
    assert abs(np.mean(errors)) < 0.015


def folds_of(y_index, proba, weight):
    """Sort rows by class, probabilities and weight, with the classes in an order without names."""
    rows, columns = range(len(y_index)), range(proba.shape[1])
    kinds = [(proba[i, y_index[i]], *sorted(proba[i]), weight[i]) for i in rows]
    signatures = [sorted((kinds[i], proba[i, k], y_index[i] == k) for i in rows) for k in columns]
    classes = sorted(columns, key=signatures.__getitem__)
    order = sorted(rows, key=lambda i: (classes.index(y_index[i]), *proba[i, classes], weight[i]))
    fold = np.empty(len(order), dtype=int)
    fold[order] = np.arange(len(order)) % 5
    return fold


@pytest.mark.parametrize("score", SCORES)
def test_refinement_is_the_held_out_loss_of_the_best_maps(score, predictions):
    # The same folds, with the maps found by a general-purpose optimizer.
    y, proba, weight = predictions
    y_index = np.searchsorted(list("abcd"), y)
    fold = folds_of(y_index, proba, weight)
    unit_weight = weight / weight.mean()

    def recalibrate(logit):
        def transform(change):
            return softmax((1 + change[0]) * logit + change[1:], axis=1)

        recalibrated = np.empty_like(logit)
        for held_out in (fold == number for number in range(5)):

            def loss(change, fitted=~held_out):
                true_proba = transform(change)[np.arange(len(y)), y_index]
                return 0.5 * change @ change - unit_weight[fitted] @ np.log(true_proba[fitted])

            best = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-4})
            recalibrated[held_out] = transform(best.x)[held_out]
        return recalibrated

    floors = (0.5 / proba.size, np.finfo(float).eps)
    candidates = [recalibrate(np.log(np.maximum(proba, floor))) for floor in floors]
    best = min(candidates, key=lambda each: log_loss(y, each, sample_weight=weight))
    parts = decompose(y, proba, score=score, sample_weight=weight)
    assert parts.refinement == pytest.approx(SCORES[score](y, best, sample_weight=weight), rel=1e-5)


@pytest.mark.parametrize(
    ("y", "proba"),
    [
        (np.tile([0, 1, 2], 20), np.eye(3)[np.tile([0, 1, 2], 20)]),  # certain and right
        (np.tile([1, 2, 0], 20), np.eye(3)[np.tile([0, 1, 2], 20)]),  # certain and wrong
        ([0, 1], [[0.6, 0.4], [0.3, 0.7]]),
        ([0] * 30 + [1], [[0.9, 0.1]] * 31),
    ],
)
def test_parts_of_extreme_predictions_are_finite(y, proba):
    for score in SCORES:
        parts = decompose(y, proba, score=score)
        assert np.isfinite([parts.total, parts.calibration, parts.refinement]).all()
        assert parts.refinement >= 0


def test_calibration_of_a_single_row_is_0():
    parts = decompose([0], [[0.6, 0.4]], labels=[0, 1])
    assert parts.calibration == pytest.approx(0)


def test_an_unknown_score_is_refused():
    with pytest.raises(ValueError, match=r"one of \['log-loss', 'brier'\], got 'accuracy'"):
        decompose([0, 1], [[0.5, 0.5]] * 2, score="accuracy")


def test_decomposition_is_a_record(predictions):
    y, proba, _ = predictions
    parts = decompose(y, proba)
    assert json.loads(json.dumps(parts.to_dict())) == {
        "total": parts.total,
        "calibration": parts.calibration,
        "refinement": parts.refinement,
    }
    assert str(parts).startswith(f"{parts.total:.4g} = ")
    assert f"{parts.refinement:.4g}" in parts._repr_html_()


@pytest.mark.parametrize("digits", [1, 16], ids=["tied", "distinct"])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_parts_depend_neither_on_the_order_of_rows_nor_on_the_names_of_classes(n_classes, digits):
    rng = np.random.default_rng(n_classes)
    proba = rng.dirichlet(np.ones(n_classes), size=80).round(digits) + 1e-3
    proba /= proba.sum(axis=1, keepdims=True)
    y = rng.integers(n_classes, size=80)
    weight = rng.integers(1, 4, size=80).astype(float)
    expected = decompose(y, proba, sample_weight=weight)
    rows, column = rng.permutation(80), rng.permutation(n_classes)
    moved = decompose(
        np.argsort(column)[y][rows], proba[rows][:, column], sample_weight=weight[rows]
    )
    assert moved.refinement == pytest.approx(expected.refinement, rel=1e-6)
    rescaled = decompose(y, proba, sample_weight=1e90 * weight)
    assert rescaled.refinement == pytest.approx(expected.refinement, rel=1e-6)


def test_rows_of_classes_that_are_alike_keep_their_class_in_any_order():
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    proba = np.array([[0.9, 0.1], [0.1, 0.9], [0.9, 0.1], [0.5, 0.5]] * 2)
    proba[4:] = proba[4:, ::-1]
    expected = decompose(y, proba).refinement
    for seed in range(10):
        rows = np.random.default_rng(seed).permutation(8)
        assert decompose(y[rows], proba[rows]).refinement == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_names_of_classes_matter_by_rounding_only_if_weights_differ_much(seed):
    rng = np.random.default_rng(seed)
    proba, y = (
        rng.dirichlet(np.full(5, 0.3), size=15),
        np.r_[np.arange(5), rng.integers(5, size=10)],
    )
    weight = 10.0 ** rng.uniform(-6, 5, size=15)
    found = decompose(y, proba, sample_weight=weight)
    columns = rng.permutation(5)
    renamed = decompose(np.argsort(columns)[y], proba[:, columns], sample_weight=weight)
    np.testing.assert_allclose(renamed.refinement, found.refinement, rtol=1e-9)
