import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression

from calibrant._core.probability_floor import apply_probability_floor
from calibrant.calibrators import (
    ENIR,
    AutoCalibrator,
    BetaCalibrator,
    DirichletCalibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
    PairwiseCalibrator,
    SigmoidCalibrator,
    StructuredMatrixScaling,
    TemperatureScaling,
    VectorScaling,
    VennAbersCalibrator,
)
from calibrant.combination import COUPLINGS, couple

WRAPPERS = [
    OneVsRestCalibrator(),
    OneVsRestCalibrator(VennAbersCalibrator()),
    OneVsRestCalibrator(ENIR(floored=True), group_rows=5),
    PairwiseCalibrator(),
    PairwiseCalibrator(BetaCalibrator(), coupling="hastie-tibshirani"),
    PairwiseCalibrator(ENIR(floored=True), group_rows=2),
]
ALL = [
    *WRAPPERS,
    TemperatureScaling(),
    VectorScaling(),
    StructuredMatrixScaling(),
    DirichletCalibrator(),
    AutoCalibrator(),
]


def test_one_vs_rest_step_by_step(simulate):
    score, y = simulate(150, 4, 2.0)
    columns = [ENIR().fit(score[:, k], y == k).predict(score[:, k]) for k in range(4)]
    proba = np.column_stack(columns)
    empty = proba.sum(axis=1) == 0
    proba[empty] = score[empty]
    expected = apply_probability_floor(proba / proba.sum(axis=1, keepdims=True), np.bincount(y))
    model = OneVsRestCalibrator(ENIR()).fit(score, y)
    np.testing.assert_allclose(model.predict_proba(score), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("coupling", sorted(COUPLINGS))
def test_pairwise_step_by_step(coupling, simulate):
    score, y = simulate(150, 4, 2.0)
    pairwise = np.zeros((150, 4, 4))
    for i in range(4):
        for j in range(i):
            member = (y == i) | (y == j)
            pair = score[:, i] / (score[:, i] + score[:, j])
            pairwise[:, i, j] = ENIR().fit(pair[member], y[member] == i).predict(pair)
            pairwise[:, j, i] = 1 - pairwise[:, i, j]
    count = np.bincount(y)
    coupled = couple(pairwise, coupling, pair_weight=count[:, None] + count)
    model = PairwiseCalibrator(ENIR(), coupling=coupling).fit(score, y)
    np.testing.assert_allclose(
        model.predict_proba(score), apply_probability_floor(coupled, count), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("wrapper", [OneVsRestCalibrator, PairwiseCalibrator])
@pytest.mark.parametrize(
    "calibrator", [ENIR(), SigmoidCalibrator(), IsotonicCalibrator()], ids=repr
)
def test_two_classes_agree_with_the_binary_calibrator(wrapper, calibrator, simulate):
    score, y = simulate(100, 2, 2.0)
    binary = clone(calibrator).fit(score[:, 1], y).predict(score[:, 1])
    expected = apply_probability_floor(np.column_stack([1 - binary, binary]), np.bincount(y))
    model = wrapper(calibrator).fit(score, y)
    np.testing.assert_allclose(model.predict_proba(score), expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("wrapper", [OneVsRestCalibrator, PairwiseCalibrator])
@pytest.mark.parametrize("calibrator", [ENIR(), IsotonicRegression(out_of_bounds="clip")])
def test_the_given_calibrator_stays_unfitted(wrapper, calibrator, simulate):
    model = wrapper(calibrator).fit(*simulate(60, 3, 2.0))
    assert len({id(fitted) for fitted in [calibrator, *model.calibrators_]}) == 4
    assert not [name for name in vars(calibrator) if name.endswith("_")]
    assert all(fitted.get_params() == calibrator.get_params() for fitted in model.calibrators_)


def test_groups_have_the_given_number_of_rows(simulate):
    score, y = simulate(200, 3, 2.0)
    isotonic = IsotonicRegression(out_of_bounds="clip")
    model = OneVsRestCalibrator(isotonic, group_rows=20).fit(score, y)
    for k, fitted in enumerate(model.calibrators_):
        order = np.argsort(score[:, k]).reshape(10, 20)
        mean = score[order, k].mean(axis=1)
        expected = IsotonicRegression(out_of_bounds="clip").fit(mean, (y == k)[order].mean(axis=1))
        np.testing.assert_allclose(fitted.predict(mean), expected.predict(mean), rtol=0, atol=1e-12)


def test_group_size_counts_rows_rather_than_scores(simulate):
    score, y = simulate(100, 3, 2.0)
    once = PairwiseCalibrator(group_rows=5).fit(score, y)
    again = PairwiseCalibrator(group_rows=5).fit(
        np.repeat(score, 4, axis=0), np.repeat(y, 4), np.full(400, 0.25)
    )
    np.testing.assert_allclose(
        once.predict_proba(score), again.predict_proba(score), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("calibrator", WRAPPERS, ids=repr)
def test_integer_weights_are_equivalent_to_repeated_rows(calibrator, simulate):
    score, y = simulate(80, 3, 2.0)
    weight = np.random.default_rng(0).integers(0, 4, size=80)
    weighted = calibrator.fit(score, y, weight).predict_proba(score)
    repeated = calibrator.fit(np.repeat(score, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted, repeated.predict_proba(score), rtol=0, atol=1e-7)


@pytest.mark.parametrize("calibrator", ALL, ids=repr)
@pytest.mark.parametrize("factor", [0.7, 4.0])
def test_permuting_the_classes_permutes_the_result(calibrator, factor, simulate):
    # This coupling is iterative, and stops at a tolerance.
    tolerance = 1e-7 if "hastie-tibshirani" in repr(calibrator) else 1e-9
    score, y = simulate(120, 4, factor)
    order = np.array([2, 0, 3, 1])
    plain = clone(calibrator).fit(score, y).predict_proba(score)
    permuted = clone(calibrator).fit(score[:, order], np.argsort(order)[y])
    np.testing.assert_allclose(
        permuted.predict_proba(score[:, order]), plain[:, order], rtol=0, atol=tolerance
    )


# One temperature for all classes cannot make one of them rarer.
@pytest.mark.parametrize(
    "calibrator", [item for item in ALL if not isinstance(item, TemperatureScaling)], ids=repr
)
def test_a_class_without_rows_gets_a_small_positive_probability(calibrator, simulate):
    score, y = simulate(90, 4, 2.0)
    seen = y != 2
    model = clone(calibrator).fit(score[seen], y[seen])
    np.testing.assert_array_equal(model.classes_, np.arange(4))
    proba = model.predict_proba(score)
    assert (proba[:, 2] > 0).all()
    assert proba[seen, 2].mean() < score[seen, 2].mean()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("calibrator", ALL, ids=repr)
def test_sorted_labels_belong_to_the_columns(calibrator, simulate):
    score, y = simulate(90, 3, 2.0)
    names = np.array(["ash", "birch", "cedar"])
    model = clone(calibrator).fit(pd.DataFrame(score, columns=names), names[y])
    assert list(model.classes_) == list(names)
    assert list(model.feature_names_in_) == list(names)
    plain = clone(calibrator).fit(score, y)
    frame = pd.DataFrame(score, columns=names)
    np.testing.assert_array_equal(model.predict(frame), names[plain.predict(score)])
    np.testing.assert_allclose(model.predict_proba(frame), plain.predict_proba(score))


def rows_of_scores(draw, n, n_classes):
    """Rows of probabilities, including zeros, ones and ties."""
    part = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-300, 1e-12, 0.5]))
    score = draw(arrays(float, (n, n_classes), elements=part))
    score[score.sum(axis=1) < 1e-200] = np.eye(n_classes)[0]
    return score / score.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("calibrator", ALL, ids=repr)
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_predictions_are_probabilities_without_zeros(calibrator, data):
    n_classes, n = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 15))
    score = rows_of_scores(data.draw, n, n_classes)
    y = np.array(data.draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)))
    weight = data.draw(arrays(float, n, elements=st.sampled_from([0.0, 0.3, 1.0, 7.0])))
    weight[0] = 1.0
    new = np.r_[score, np.eye(n_classes), rows_of_scores(data.draw, 3, n_classes)]
    proba = clone(calibrator).fit(score, y, weight).predict_proba(new)
    assert np.isfinite(proba).all()
    assert (proba > 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("score", "y", "message"),
    [
        ([[0.2], [0.3]], [0, 1], "one column per class, .* got a single column"),
        ([[2.0, -1.0], [0.5, 0.5]], [0, 1], "got values from -1 to 2"),
        ([[3.0, 4.0], [0.5, 0.5]], [0, 1], r"row sums from 1 to 7\. For logits"),
        ([[0.5, 0.5], [0.5, 0.5]], [0], "got 1 label for 2 rows"),
        ([[0.5, 0.5], [0.5, 0.5]], ["a", "a"], r"each of the 2 columns .* classes \['a'\]"),
        ([[0.5, 0.5], [0.5, 0.5]], [2, 2], "pass column numbers"),
        ([[0.5, np.nan], [0.5, 0.5]], [0, 1], "NaN"),
    ],
)
def test_invalid_points_are_refused(score, y, message):
    with pytest.raises(ValueError, match=message):
        TemperatureScaling().fit(score, y)


@pytest.mark.parametrize("calibrator", ALL, ids=repr)
def test_nearly_as_many_classes_as_rows_cause_no_warning(calibrator, simulate):
    score, _ = simulate(24, 13)
    y = np.arange(24) % 13
    assert clone(calibrator).fit(score, y).predict_proba(score).shape == (24, 13)


def test_prediction_before_fit_is_refused():
    for predict in (PairwiseCalibrator().predict, PairwiseCalibrator().predict_proba):
        with pytest.raises(NotFittedError):
            predict([[0.5, 0.5]])


def test_a_different_number_of_columns_is_refused(simulate):
    model = PairwiseCalibrator().fit(*simulate(30, 3))
    with pytest.raises(ValueError, match="2 features"):
        model.predict_proba([[0.5, 0.5]])


def test_group_size_must_be_positive(simulate):
    with pytest.raises(ValueError, match=r"group_rows must be positive, got 0"):
        OneVsRestCalibrator(group_rows=0).fit(*simulate(30, 3))


@pytest.mark.parametrize("calibrator", ALL, ids=repr)
def test_columns_named_after_the_classes_must_be_sorted(calibrator, simulate):
    score, index = simulate(30, 3)
    names = np.array(["ash", "elm", "oak"])
    table = pd.DataFrame(score, columns=names)
    expected = clone(calibrator).fit(score, names[index]).predict_proba(score)
    ordered = clone(calibrator).fit(table, names[index])
    np.testing.assert_array_equal(ordered.predict_proba(table), expected)
    with pytest.raises(ValueError, match=r"must be in sorted order, \['ash', 'elm', 'oak'\], got"):
        clone(calibrator).fit(table[["oak", "ash", "elm"]], names[index])
