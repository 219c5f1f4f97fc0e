import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, softmax

from calibrant._core.probability_floor import apply_probability_floor, probability_floor
from calibrant.calibrators import (
    DirichletCalibrator,
    StructuredMatrixScaling,
    TemperatureScaling,
    VectorScaling,
)

FAMILY = [
    TemperatureScaling(),
    TemperatureScaling(penalty=1.0),
    VectorScaling(),
    StructuredMatrixScaling(),
    StructuredMatrixScaling(intercept=0.1, diagonal=0.1, off_diagonal=0.1),
    DirichletCalibrator(),
]


def make_weight(n, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 2.0, size=n)


def total_log_loss(logit, y, weight):
    return -np.sum(weight * log_softmax(logit, axis=1)[np.arange(len(y)), y])


def entries(model):
    """The entries of (W - I, b) as one vector."""
    K = len(model.intercept_)
    return np.r_[(model.coef_ - np.eye(K)).ravel(), model.intercept_]


def objective_of(log_score, y, weight, intercept, diagonal, off_diagonal):
    """Sum of log losses plus penalties, as a function of the entries of (W - I, b)."""
    K = log_score.shape[1]

    def objective(vector):
        change, bias = vector[: K * K].reshape(K, K), vector[K * K :]
        on = np.diag(change)
        penalty = intercept * bias @ bias + diagonal * on @ on
        penalty += off_diagonal * (np.sum(change**2) - on @ on)
        return total_log_loss(log_score + log_score @ change.T + bias, y, weight) + penalty

    return objective


def assert_minimum(objective, fitted):
    """A generic optimizer finds nothing better, and the numerical gradient is 0."""
    found = minimize(objective, np.zeros(len(fitted)), method="BFGS", options={"gtol": 1e-5})
    assert objective(fitted) <= found.fun + 1e-9
    np.testing.assert_allclose(fitted, found.x, rtol=0, atol=2e-3)
    step = 1e-5
    for i in range(len(fitted)):
        ahead, behind = fitted.copy(), fitted.copy()
        ahead[i] += step
        behind[i] -= step
        assert abs(objective(ahead) - objective(behind)) / (2 * step) < 1e-4


@pytest.mark.parametrize("penalty", [0.0, 1.0, 50.0])
@pytest.mark.parametrize("factor", [0.4, 1.0, 2.5])
def test_temperature_minimizes_the_penalized_log_loss(penalty, factor, simulate):
    score, y = simulate(120, 3, factor)
    score = 0.95 * score + 0.05 / 3
    weight = make_weight(120)

    def objective(t):
        return total_log_loss(t * np.log(score), y, weight) + penalty * (t - 1) ** 2

    found = minimize_scalar(objective, bounds=(0.01, 20), options={"xatol": 1e-10})
    scaled = TemperatureScaling(penalty=penalty).fit(score, y, weight)
    assert 1 / scaled.temperature_ == pytest.approx(found.x, rel=1e-5)


def test_temperature_recovers_over_and_underconfidence(simulate):
    for factor in (0.5, 2.0):
        score, y = simulate(5000, 3, factor)
        assert TemperatureScaling().fit(score, y).temperature_ == pytest.approx(factor, rel=0.1)


def test_an_infinite_penalty_leaves_the_scores_unchanged(simulate):
    score, y = simulate(200, 3, 2.0)
    assert TemperatureScaling(penalty=np.inf).fit(score, y).temperature_ == 1.0
    parts = {"intercept": np.inf, "diagonal": np.inf, "off_diagonal": np.inf}
    np.testing.assert_allclose(
        StructuredMatrixScaling(**parts).fit(score, y).predict_proba(score),
        TemperatureScaling().fit(score, y).predict_proba(score),
        rtol=0,
        atol=1e-9,
    )


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("strength", [(1.0, 1.0, 1.0), (0.1, 0.2, 0.3), (5.0, 0.01, 2.0)])
def test_matrix_scaling_minimizes_the_published_objective(n_classes, strength, simulate):
    score, y = simulate(100, n_classes, 1.5)
    score = 0.95 * score + 0.05 / n_classes
    weight = make_weight(100)
    intercept, diagonal, off_diagonal = strength
    model = StructuredMatrixScaling(
        intercept=intercept, diagonal=diagonal, off_diagonal=off_diagonal
    ).fit(score, y, weight)
    tempered = log_softmax(np.log(score) / model.temperature_, axis=1)
    K = n_classes
    assert_minimum(
        objective_of(tempered, y, weight, K * intercept, K * diagonal, K * (K - 1) * off_diagonal),
        entries(model),
    )


def norm_of_gradient(model, log_score, y, weight, penalty):
    """The norm of the gradient of the mean of the objective, over the entries not fixed at 0."""
    K = log_score.shape[1]
    delta = np.column_stack([model.coef_ - np.eye(K), model.intercept_])
    inputs = np.column_stack([log_score, np.ones(len(y))])
    residual = np.exp(log_softmax(log_score + inputs @ delta.T, axis=1)) - np.eye(K)[y]
    free = np.isfinite(penalty)
    gradient = (weight[:, None] * residual).T @ inputs
    gradient[free] += 2 * penalty[free] * delta[free]
    return np.linalg.norm(gradient[free]) / weight.sum()


@pytest.mark.parametrize("n_classes", [2, 7, 8, 30])
@pytest.mark.parametrize("strength", [1.0, 0.1, 1e-3])
@pytest.mark.parametrize("is_diagonal", [False, True])
def test_the_gradient_is_zero_for_any_number_of_classes(n_classes, strength, is_diagonal, simulate):
    """Few and many classes are fitted by different methods, and so are weak penalties."""
    K = n_classes
    score, y = simulate(300, K, 2.0)
    score = 0.95 * score + 0.05 / K
    weight = make_weight(300)
    parts = {"intercept": strength, "diagonal": strength}
    matrix = (
        VectorScaling(**parts)
        if is_diagonal
        else StructuredMatrixScaling(**parts, off_diagonal=strength)
    )
    model = matrix.fit(score, y, weight)
    tempered = log_softmax(np.log(score) / model.temperature_, axis=1)
    tempered = np.log(apply_probability_floor(np.exp(tempered), model.class_count_))
    penalty = np.full((K, K + 1), np.inf if is_diagonal else K * (K - 1) * strength)
    np.fill_diagonal(penalty, K * strength)
    penalty[:, -1] = K * strength
    assert norm_of_gradient(model, tempered, y, weight, penalty) < 1e-9


def test_many_classes_agree_with_a_generic_optimizer(simulate):
    K = 12
    score, y = simulate(150, K, 2.0)
    score = 0.95 * score + 0.05 / K
    weight = make_weight(150)
    model = StructuredMatrixScaling().fit(score, y, weight)
    tempered = log_softmax(np.log(score) / model.temperature_, axis=1)
    tempered = np.log(apply_probability_floor(np.exp(tempered), model.class_count_))
    objective = objective_of(tempered, y, weight, K, K, K * (K - 1))
    found = minimize(objective, np.zeros(K * (K + 1)), method="L-BFGS-B")
    assert objective(entries(model)) <= found.fun + 1e-9
    np.testing.assert_allclose(entries(model), found.x, rtol=0, atol=2e-3)


def test_the_temperature_is_bounded_where_no_temperature_is_best():
    score = np.array([[0.8, 0.2], [0.3, 0.7]] * 5)
    always_right, always_wrong = np.tile([0, 1], 5), np.tile([1, 0], 5)
    assert TemperatureScaling().fit(score, always_right).temperature_ == pytest.approx(1e-4)
    assert TemperatureScaling().fit(score, always_wrong).temperature_ == pytest.approx(1e4)


@pytest.mark.parametrize("gap", [1e-3, 1.0, 5.0])
@pytest.mark.parametrize("n_wrong", [1, 40, 99])
def test_extreme_temperatures_have_the_closed_form_of_two_classes(gap, n_wrong):
    # All rows have the same two scores up to their order, so that the frequency of errors
    # determines the temperature.
    y = np.arange(200) % 2
    predicted = np.where(np.arange(200) < n_wrong, 1 - y, y)
    score = np.exp(log_softmax(gap * np.eye(2)[predicted], axis=1))
    expected = np.log((200 - n_wrong) / n_wrong) / gap
    temperature = TemperatureScaling().fit(score, y).temperature_
    assert 1 / temperature == pytest.approx(expected, rel=1e-9)


def test_vector_scaling_minimizes_the_same_objective_over_diagonal_maps(simulate):
    score, y = simulate(100, 4, 1.5)
    score = 0.95 * score + 0.05 / 4
    weight = make_weight(100)
    model = VectorScaling(intercept=0.5, diagonal=2.0).fit(score, y, weight)
    assert not (model.coef_ - np.diag(np.diag(model.coef_))).any()
    tempered = log_softmax(np.log(score) / model.temperature_, axis=1)

    def objective(vector):
        logit = tempered * (1 + vector[:4]) + vector[4:]
        penalty = 4 * (2.0 * vector[:4] @ vector[:4] + 0.5 * vector[4:] @ vector[4:])
        return total_log_loss(logit, y, weight) + penalty

    assert_minimum(objective, np.r_[np.diag(model.coef_) - 1, model.intercept_])


@pytest.mark.parametrize("strength", [1e-2, 1.0])
def test_dirichlet_minimizes_the_mean_log_loss_with_mean_squared_penalties(strength, simulate):
    score, y = simulate(100, 3, 1.5)
    score = 0.95 * score + 0.05 / 3
    weight = make_weight(100)
    n_rows = weight.sum()
    model = DirichletCalibrator(off_diagonal=strength, intercept=strength / 2)
    model.fit(score, y, weight)
    objective = objective_of(
        np.log(score), y, weight, n_rows * strength / 2 / 3, 0.0, n_rows * strength / 6
    )
    assert_minimum(lambda vector: objective(vector) / n_rows, entries(model))
    logit = np.log(score) @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.predict_proba(score), softmax(logit, axis=1), rtol=1e-12)


@pytest.mark.parametrize("name", ["overconfident", "underconfident", "biased"])
@pytest.mark.parametrize(
    ("method", "calibrator"), [("sms", StructuredMatrixScaling()), ("svs", VectorScaling())]
)
def test_agrees_with_probmetrics(name, method, calibrator, peers):
    """Within 1e-3 in log loss: probmetrics mixes scores after temperature scaling with one
    uniform row in n + 1, and rounds logits to single precision."""
    case = peers["multiclass"][name]
    score, y, n = np.array(case["score"]), np.array(case["y"]), case["n_train"]
    uncalibrated = -np.log(score[np.arange(len(y)), y])
    proba = calibrator.fit(score[:n], y[:n]).predict_proba(score)
    loss = -np.log(proba[np.arange(len(y)), y])
    assert loss[:n].mean() == pytest.approx(case[method]["train"], abs=1e-3)
    assert loss[n:].mean() == pytest.approx(case[method]["test"], abs=1e-3)
    assert uncalibrated.mean() > loss.mean() + 0.02


def test_penalties_fade_as_rows_grow(simulate):
    new, _ = simulate(100, 3, seed=1)

    def distance(n):
        penalized = StructuredMatrixScaling()
        free = StructuredMatrixScaling(intercept=0, diagonal=0, off_diagonal=0)
        one, other = (model.fit(*simulate(n, 3)).predict_proba(new) for model in (penalized, free))
        return np.abs(one - other).mean()

    assert distance(6000) < distance(60) / 20


def test_without_penalties_directions_without_effect_stay_at_their_start(simulate):
    # Adding a constant to a column of the matrix, or to all intercepts, has no effect.
    score, y = simulate(200, 3, 2.0)
    free = StructuredMatrixScaling(intercept=0, diagonal=0, off_diagonal=0).fit(score, y)
    np.testing.assert_allclose(free.coef_.sum(axis=0), 1.0, rtol=0, atol=0.01)
    assert free.intercept_.sum() == pytest.approx(0.0, abs=0.01)


def test_large_penalties_leave_temperature_scaling(simulate):
    score, y = simulate(12, 4, 2.0)
    score, y = np.r_[score, score], np.r_[y, y]
    matrix = StructuredMatrixScaling(intercept=100, diagonal=100, off_diagonal=100)
    np.testing.assert_allclose(
        matrix.fit(score, y).predict_proba(score),
        TemperatureScaling().fit(score, y).predict_proba(score),
        rtol=0,
        atol=0.02,
    )


@pytest.mark.parametrize("calibrator", FAMILY, ids=repr)
def test_integer_weights_are_equivalent_to_repeated_rows(calibrator, simulate):
    score, y = simulate(80, 3, 2.0)
    weight = np.random.default_rng(0).integers(0, 4, size=80)
    weighted = calibrator.fit(score, y, weight).predict_proba(score)
    repeated = calibrator.fit(np.repeat(score, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted, repeated.predict_proba(score), rtol=0, atol=1e-6)


@pytest.mark.parametrize("calibrator", FAMILY, ids=repr)
def test_dividing_the_weight_of_a_row_among_repeats_has_no_effect(calibrator, simulate):
    score, y = simulate(80, 3, 2.0)
    once = calibrator.fit(score, y).predict_proba(score)
    again = calibrator.fit(np.tile(score, (5, 1)), np.tile(y, 5), np.full(400, 0.2))
    np.testing.assert_allclose(once, again.predict_proba(score), rtol=0, atol=1e-6)


@pytest.mark.parametrize("calibrator", FAMILY, ids=repr)
def test_separable_scores_have_a_finite_solution(calibrator):
    score = np.repeat([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], 4, axis=0)
    proba = calibrator.fit(score, np.repeat([0, 1, 2], 4)).predict_proba(score)
    # A third of the pseudo-count of a tenth of a row, added to 12 rows.
    assert (proba > 0.1 / 3 / 12.1 - 1e-12).all()
    np.testing.assert_array_equal(proba.argmax(axis=1), np.repeat([0, 1, 2], 4))


@pytest.mark.parametrize(
    ("calibrator", "message"),
    [
        (TemperatureScaling(penalty=-1), "penalty must be a nonnegative number, got -1"),
        (
            StructuredMatrixScaling(diagonal=np.nan),
            "diagonal must be a nonnegative number, got nan",
        ),
        (VectorScaling(intercept=-0.1), "intercept must be a nonnegative number, got -0.1"),
        (
            DirichletCalibrator(off_diagonal=-2),
            "off_diagonal must be a nonnegative number, got -2",
        ),
    ],
)
def test_invalid_penalties_are_refused(calibrator, message, simulate):
    with pytest.raises(ValueError, match=message):
        calibrator.fit(*simulate(20, 3))


def test_the_floor_is_low_for_informative_magnitudes_and_high_for_zeros():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=300)
    # Overconfident by a factor of ten: most scores are far below 0.001.
    logit = rng.normal(size=(300, 3)) + 2.0 * np.eye(3)[y]
    informative = TemperatureScaling().fit(np.exp(log_softmax(10 * logit, axis=1)), y)
    np.testing.assert_array_equal(informative.floor_, 1e-12)
    votes = np.eye(3)[np.where(rng.uniform(size=300) < 0.8, y, rng.integers(0, 3, size=300))]
    zeros = TemperatureScaling().fit(votes, y)
    np.testing.assert_allclose(zeros.floor_, probability_floor(np.bincount(y), 0.5))
