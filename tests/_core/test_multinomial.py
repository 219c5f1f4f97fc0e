from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression

from calibrant._core.multinomial import MultinomialModel


@pytest.fixture
def model():
    """Three classes; the logits of the last two have two columns each."""
    rng = np.random.RandomState(0)
    columns, offset = rng.randn(80, 4), rng.randn(80, 3)
    target = np.eye(3)[rng.randint(3, size=80)] * rng.uniform(0.5, 2.0, size=(80, 1))
    return MultinomialModel(columns, np.array([1, 1, 2, 2]), offset, target, np.full(4, 0.7))


def penalized(model, parameters):
    return 0.5 * model.ridge @ parameters**2 - model.log_likelihood(parameters)


def test_gradient_vanishes_at_the_fit_from_any_start(model):
    parameters = model.fit()
    gradient = approx_fprime(parameters, lambda each: penalized(model, each), 1e-6)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-3)
    np.testing.assert_allclose(model.fit(np.array([2.0, -1.0, 0.5, 3.0])), parameters, atol=1e-6)


def test_information_is_the_second_derivative(model):
    at = np.array([0.3, -0.2, 0.1, 0.4])
    step = 1e-4 * np.eye(4)
    numeric = [
        [
            (
                penalized(model, at + a + b)
                - penalized(model, at + a - b)
                - penalized(model, at - a + b)
                + penalized(model, at - a - b)
            )
            / 4e-8
            for a in step
        ]
        for b in step
    ]
    np.testing.assert_allclose(model.information(at), numeric, rtol=1e-4, atol=1e-3)


def test_score_products_are_those_of_the_gradients_of_rows(model):
    at = np.array([0.3, -0.2, 0.1, 0.4])
    expected = np.zeros((4, 4))
    for row, weight in zip(np.eye(80, dtype=bool), model.weight[:, 0], strict=True):
        alone = replace(
            model,
            columns=model.columns[row],
            offset=model.offset[row],
            target=model.target[row] / weight,
        )
        gradient = approx_fprime(at, alone.log_likelihood, 1e-7)
        expected += weight * np.outer(gradient, gradient)
    np.testing.assert_allclose(model.score_products(at), expected, rtol=1e-5, atol=1e-5)


def test_shared_columns_are_the_logistic_regression_of_scikit_learn():
    rng = np.random.RandomState(1)
    X, y = rng.randn(150, 2), rng.randint(3, size=150)
    columns = np.column_stack([np.ones(150), X])
    model = MultinomialModel(
        np.tile(columns, 2), np.repeat([1, 2], 3), np.zeros((150, 3)), np.eye(3)[y], np.zeros(6)
    )
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(model.proba(model.fit()), peer.predict_proba(X), atol=1e-5)


def test_evidence_is_close_to_the_integral():
    rng = np.random.RandomState(2)
    x, y = rng.randn(60), rng.randint(2, size=60)

    def log_evidence(scale):
        model = MultinomialModel(
            x[:, None], np.array([1]), np.zeros((60, 2)), np.eye(2)[y], np.array([scale**-2.0])
        )

        def joint(slope):
            prior = np.exp(-0.5 * (slope / scale) ** 2) / scale
            return prior * np.exp(model.log_likelihood(np.array([slope])))

        return model.log_evidence(model.fit()), np.log(quad(joint, -6 * scale, 6 * scale)[0])

    (laplace, exact), (other_laplace, other_exact) = log_evidence(0.5), log_evidence(3.0)
    assert laplace - other_laplace == pytest.approx(exact - other_exact, abs=0.01)
