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
def test_every_problem_has_two_sides_and_every_two_classes_differ(strategy, n_classes):
    code = code_of(strategy, n_classes)
    assert code.shape[0] == n_classes
    assert set(np.unique(code)) <= {-1, 0, 1}
    assert (code.max(axis=0) == 1).all()
    assert (code.min(axis=0) == -1).all()
    apart = (code[:, None, :] * code[None, :, :] == -1).any(axis=2)
    assert apart[np.triu_indices(n_classes, 1)].all()


@pytest.mark.parametrize("strategy", CODED, ids=repr)
def test_two_classes_are_one_problem(strategy):
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
def test_no_problem_comes_twice_or_the_other_way_round(kind):
    code = code_of(OutputCode(kind), 5)
    both_ways = np.hstack([code, -code])
    assert len(np.unique(both_ways, axis=1).T) == 2 * code.shape[1]


def test_random_codes_follow_the_random_state():
    strategy = OutputCode("random-sparse")
    np.testing.assert_array_equal(code_of(strategy, 6, seed=1), code_of(strategy, 6, seed=1))
    assert not np.array_equal(code_of(strategy, 6, seed=1), code_of(strategy, 6, seed=2))


@pytest.mark.parametrize("strategy", CODED, ids=repr)
def test_exact_problems_combine_to_exact_classes(strategy):
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


def test_direct_has_no_binary_problems():
    assert code_of(Direct(), 5) is None


@pytest.mark.parametrize("name", STRATEGIES)
def test_names_stand_for_strategies(name):
    assert isinstance(resolve_strategy(name), STRATEGIES[name])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: resolve_strategy("one-vs-all"), "strategy must be one of .* Got 'one-vs-all'"),
        (lambda: resolve_strategy(3), "or an object of calibrant.strategies. Got 3"),
        (lambda: AllPairs("ridge"), "coupling must be one of .* Got 'ridge'"),
        (lambda: OutputCode("dense"), "kind must be one of .* Got 'dense'"),
        (lambda: OutputCode(n_problems=5), "for random codes only. Got 5 with kind='exhaustive'"),
        (lambda: OutputCode("random-dense", 0), "must be a positive number"),
        (lambda: code_of(OutputCode(), 11), "at most 10 classes. Got 11, which makes 1023"),
        (lambda: code_of(OutputCode("random-dense", 2), 6), "tell all 6 classes apart. Got 2"),
    ],
)
def test_bad_strategies_get_one_clear_error(make, message):
    with pytest.raises(ValueError, match=message):
        make()
