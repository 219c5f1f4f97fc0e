import numpy as np
import pytest

from calibrant.strategies import (
    STRATEGIES,
    AllPairs,
    Direct,
    OneVsRest,
    OutputCode,
    resolve_strategy,
)

CODED = [
    OneVsRest(),
    AllPairs(),
    OutputCode(),
    OutputCode("random-dense"),
    OutputCode("random-sparse"),
]


def code_of(strategy, n_classes, seed=0):
    return strategy.code(n_classes, np.random.RandomState(seed))


@pytest.mark.parametrize("strategy", CODED, ids=repr)
@pytest.mark.parametrize("n_classes", [3, 4, 5, 7, 10])
def test_problems_have_two_sides_and_distinguish_all_classes(strategy, n_classes):
    code = code_of(strategy, n_classes)
    assert code.shape[0] == n_classes
    assert set(np.unique(code)) <= {-1, 0, 1}
    assert (code.max(axis=0) == 1).all()
    assert (code.min(axis=0) == -1).all()
    differ = (code[:, None, :] * code[None, :, :] == -1).any(axis=2)
    assert differ[np.triu_indices(n_classes, 1)].all()


@pytest.mark.parametrize("strategy", CODED, ids=repr)
def test_two_classes_form_one_problem(strategy):
    code = code_of(strategy, 2)
    np.testing.assert_array_equal(code, [[-1], [1]])
    proba = strategy.combine([np.array([0.3, 1.0])], code, np.array([5.0, 5.0]))
    np.testing.assert_allclose(proba, [[0.7, 0.3], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("strategy", "n_classes", "n_problems"),
    [
        (OneVsRest(), 7, 7),
        (AllPairs(), 6, 15),
        (AllPairs(), 10, 45),
        (OutputCode(), 3, 3),
        (OutputCode(), 5, 15),
        (OutputCode("random-dense"), 8, 30),
        (OutputCode("random-dense"), 3, 3),
        (OutputCode("random-sparse"), 8, 45),
        (OutputCode("random-sparse"), 3, 6),
        (OutputCode("random-dense", n_problems=9), 6, 9),
    ],
    ids=repr,
)
def test_number_of_problems(strategy, n_classes, n_problems):
    assert code_of(strategy, n_classes).shape[1] == n_problems


@pytest.mark.parametrize("kind", ["exhaustive", "random-dense", "random-sparse"])
def test_no_problem_is_repeated_even_with_sides_swapped(kind):
    code = code_of(OutputCode(kind), 5)
    both_ways = np.hstack([code, -code])
    assert len(np.unique(both_ways, axis=1).T) == 2 * code.shape[1]


def test_random_codes_follow_the_random_state():
    strategy = OutputCode("random-sparse")
    np.testing.assert_array_equal(code_of(strategy, 6, seed=1), code_of(strategy, 6, seed=1))
    assert not np.array_equal(code_of(strategy, 6, seed=1), code_of(strategy, 6, seed=2))


@pytest.mark.parametrize("strategy", CODED, ids=repr)
def test_consistent_problem_probabilities_combine_to_the_class_probabilities(strategy):
    classes = np.random.default_rng(0).dirichlet(np.ones(5), size=20)
    code = code_of(strategy, 5)
    positive, negative = classes @ (code == 1), classes @ (code == -1)
    probas = (positive / (positive + negative)).T
    combined = strategy.combine(list(probas), code, np.full(5, 10.0))
    np.testing.assert_allclose(combined, classes, rtol=0, atol=1e-8)


def test_hastie_tibshirani_weights_pairs_by_their_rows():
    code = code_of(AllPairs(), 3)
    pairs = list(np.array([[0.2], [0.7], [0.6]]))
    strategy = AllPairs("hastie-tibshirani")
    even = strategy.combine(pairs, code, np.array([10.0, 10.0, 10.0]))
    uneven = strategy.combine(pairs, code, np.array([1.0, 100.0, 100.0]))
    assert np.abs(even - uneven).max() > 1e-3


@pytest.mark.parametrize("strategy", [OneVsRest(), Direct()], ids=repr)
def test_rows_of_zeros_get_the_fallback_or_the_class_frequencies(strategy, caplog):
    proba, fallback = np.array([[0.2, 0.2, 0.6], [0.0, 0.0, 0.0]]), np.array([[0.1, 0.3, 0.6]] * 2)
    code = code_of(strategy, 3)

    def combine(fallback=None):
        problems = [proba] if code is None else list(proba.T)
        if fallback is not None:
            fallback = [fallback] if code is None else list(fallback.T)
        return strategy.combine(problems, code, np.array([1.0, 2.0, 5.0]), fallback)

    with caplog.at_level("INFO", logger="calibrant.strategies"):
        np.testing.assert_allclose(combine(fallback), [proba[0], fallback[1]])
    assert "all probabilities are 0 in 1 of 2 rows" in caplog.text
    np.testing.assert_allclose(combine(), [proba[0], [0.125, 0.25, 0.625]])


def test_direct_has_no_binary_problems():
    assert code_of(Direct(), 5) is None


@pytest.mark.parametrize("name", STRATEGIES)
def test_names_resolve_to_strategies(name):
    assert isinstance(resolve_strategy(name), STRATEGIES[name])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: resolve_strategy("one-vs-all"), "strategy must be one of .* got 'one-vs-all'"),
        (lambda: resolve_strategy(3), "an instance of a class in calibrant.strategies, got 3"),
        (lambda: AllPairs("ridge"), "coupling must be one of .* got 'ridge'"),
        (lambda: OutputCode("dense"), "kind must be one of .* got 'dense'"),
        (lambda: OutputCode(n_problems=5), "requires a random code, got 5 with kind='exhaustive'"),
        (lambda: OutputCode("random-dense", 0), "n_problems must be positive"),
        (lambda: code_of(OutputCode(), 11), "at most 10 classes, got 11, which would require 1023"),
        (lambda: code_of(OutputCode("random-dense", 2), 6), "distinguish all 6 classes, got 2"),
    ],
)
def test_invalid_strategies_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
