import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB

from calibrant._core.problems import (
    ModelPerProblem,
    SharedModel,
    make_problems,
    take_rows,
)
from calibrant._core.training_data import TrainingData
from calibrant.strategies import AllPairs, OneVsRest, OutputCode


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 4
    weight = np.ones(40)
    weight[:4] = 0.0
    X = rng.normal(size=(40, 3)) + y[:, None]
    return TrainingData(X, y, np.array(["a", "b", "c", "d"]), weight)


@pytest.mark.parametrize("strategy", [OneVsRest(), AllPairs(), OutputCode("random-sparse")])
def test_problems_have_the_rows_and_sides_of_their_columns(strategy, data):
    code = strategy.code(4, np.random.RandomState(0))
    for column, problem in zip(code.T, make_problems(code, data), strict=True):
        sides = column[data.y[problem.rows]]
        np.testing.assert_array_equal(problem.target[problem.rows], sides == 1)
        assert problem.is_binary
        assert (data.weight[problem.rows] > 0).all()
        assert len(problem.rows) == np.count_nonzero((column[data.y] != 0) & (data.weight > 0))


def test_the_multiclass_problem_has_all_weighted_rows_and_the_labels(data):
    (problem,) = make_problems(None, data)
    np.testing.assert_array_equal(problem.rows, np.arange(4, 40))
    np.testing.assert_array_equal(problem.labels, data.classes[data.y])
    assert not problem.is_binary
    assert problem.n_labels == 4


def test_labels_are_kept_only_for_problems_between_single_classes(data):
    code = AllPairs().code(4, np.random.RandomState(0))
    problem = make_problems(code, data, keep_labels=True)[0]
    assert set(problem.labels[problem.rows]) == {"a", "b"}
    with pytest.raises(ValueError, match="problems between single classes"):
        make_problems(OneVsRest().code(4, np.random.RandomState(0)), data, keep_labels=True)


@pytest.mark.parametrize("kind", [np.array, csr_array, pd.DataFrame, np.ndarray.tolist])
def test_rows_are_taken_from_any_type(kind):
    values = np.arange(12.0).reshape(4, 3)
    X = kind(values)
    taken = take_rows(X, np.array([2, 0]))
    assert type(taken) is type(X)
    dense = taken.toarray() if hasattr(taken, "toarray") else np.asarray(taken)
    np.testing.assert_array_equal(dense, values[[2, 0]])


def test_a_shared_model_scores_a_problem_by_its_class_scores(data):
    code = OneVsRest().code(4, np.random.RandomState(0))
    model = GaussianNB().fit(data.X, data.y)
    scores, are_proba = SharedModel().scores([model], code, data.X)
    assert are_proba
    np.testing.assert_allclose(np.column_stack(scores), model.predict_proba(data.X))

    pairs = AllPairs().code(4, np.random.RandomState(0))
    scores, _ = SharedModel().scores([model], pairs, data.X)
    proba = model.predict_proba(data.X)
    np.testing.assert_allclose(scores[0], proba[:, 1] / (proba[:, 0] + proba[:, 1]))


def test_decision_values_of_the_multiclass_problem_are_logits(data):
    model = RidgeClassifier().fit(data.X, data.y)
    (scores,), are_proba = ModelPerProblem().scores([model], None, data.X)
    assert are_proba
    np.testing.assert_allclose(scores, softmax(model.decision_function(data.X), axis=1))


def test_binary_problems_are_scored_by_their_models(data):
    models = [LogisticRegression().fit(data.X, data.y == k) for k in range(4)]
    code = OneVsRest().code(4, np.random.RandomState(0))
    scores, are_proba = ModelPerProblem().scores(models, code, data.X)
    assert are_proba
    for model, score in zip(models, scores, strict=True):
        np.testing.assert_array_equal(score, model.predict_proba(data.X)[:, 1])
