import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import isotonic_regression, lsq_linear

from calibrant.near_isotonic import near_isotonic_path

pytestmark = pytest.mark.usefixtures("each_kernel")

GOLDEN = json.loads((Path(__file__).parent / "golden" / "near_isotonic.json").read_text())


def solve_qp(y, weight, lam):
    """Solve the dual problem, which is bounded least squares, by an active-set method."""
    root = np.sqrt(weight)
    # b = y - W^-1 D' v with 0 <= v <= lam, where D b are the decreases b_i - b_{i+1}.
    transposed = np.zeros((len(y), len(y) - 1))
    for i in range(len(y) - 1):
        transposed[i, i], transposed[i + 1, i] = 1.0, -1.0
    solution = lsq_linear(
        transposed / root[:, None], y * root, bounds=(0.0, lam), method="bvls", tol=1e-14
    )
    return y - transposed @ solution.x / weight


def assert_optimal(y, weight, lam, fitted):
    """Check the optimality conditions, which characterize the solution."""
    dual = np.cumsum(weight * (y - fitted))
    scale = max(1.0, np.abs(weight * y).sum())
    assert abs(dual[-1]) < 1e-9 * scale
    step = np.diff(fitted)
    inner = dual[:-1]  # lam where b falls, 0 where it rises, between them where it is constant
    assert (inner > -1e-9 * scale).all()
    assert (inner < lam + 1e-9 * scale).all()
    tolerance = 1e-9 * max(1.0, np.ptp(y))
    np.testing.assert_allclose(inner[step < -tolerance], lam, rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(inner[step > tolerance], 0.0, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_path_agrees_with_the_r_package(case):
    path = near_isotonic_path(case["y"])
    for lam, fitted in zip(case["lambda"], case["beta_by_lambda"], strict=True):
        np.testing.assert_allclose(path.solution(lam), fitted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_breakpoints_are_the_distinct_ones_of_the_r_package(case):
    lambdas = np.array(case["lambda"])
    distinct = lambdas[np.r_[True, np.diff(lambdas) > 1e-12]]
    np.testing.assert_allclose(near_isotonic_path(case["y"]).lambdas, distinct, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["two at a time", "unequal groups"])
def test_path_agrees_with_netcal(name, peers):
    case = peers["near_isotonic"][name]
    path = near_isotonic_path(case["y"])
    lambdas = [model["lambda"] for model in case["models"]]
    np.testing.assert_allclose(path.lambdas, lambdas, rtol=0, atol=1e-12)
    for model in case["models"]:
        fitted = np.repeat(model["value"], model["size"])
        np.testing.assert_allclose(path.solution(model["lambda"]), fitted, rtol=0, atol=1e-12)


def test_no_point_is_lost_when_three_groups_merge_at_once(peers):
    """netcal loses one, so its path does not end in isotonic regression."""
    case = peers["near_isotonic"]["lost row"]
    y, last = np.array(case["y"], dtype=float), case["models"][-1]
    path = near_isotonic_path(y)
    fitted = path.solution(path.lambdas[-1])
    np.testing.assert_allclose(fitted, isotonic_regression(y).x, rtol=0, atol=1e-12)
    assert sum(last["size"]) == len(y) - 1
    assert fitted[2:8] == pytest.approx(1 / 3)
    assert last["value"][1] == pytest.approx(0.3)


@pytest.mark.parametrize("seed", range(20))
def test_solution_agrees_with_a_quadratic_program(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 12)
    y, weight = rng.normal(size=n), rng.uniform(0.2, 3.0, size=n)
    path = near_isotonic_path(y, weight)
    for lam in rng.uniform(0, 1.2 * path.lambdas[-1] + 0.1, size=5):
        np.testing.assert_allclose(path.solution(lam), solve_qp(y, weight, lam), rtol=0, atol=1e-8)


values = st.one_of(st.floats(-10, 10, allow_subnormal=False), st.sampled_from([0.0, 0.5, 1.0]))


@given(st.data())
def test_every_solution_on_the_path_is_optimal(data):
    n = data.draw(st.integers(1, 40))
    y = data.draw(arrays(float, n, elements=values))
    weight = data.draw(arrays(float, n, elements=st.sampled_from([0.5, 1.0, 2.0, 7.0])))
    path = near_isotonic_path(y, weight)
    between = (path.lambdas[:-1] + path.lambdas[1:]) / 2
    for lam in [*path.lambdas, *between, path.lambdas[-1] + 1.0]:
        assert_optimal(y, weight, lam, path.solution(lam))


@given(arrays(float, st.integers(1, 60), elements=st.floats(0, 1)))
def test_the_path_ends_in_isotonic_regression(y):
    path = near_isotonic_path(y)
    expected = isotonic_regression(y).x
    np.testing.assert_allclose(path.solution(path.lambdas[-1]), expected, rtol=0, atol=1e-12)


def test_the_path_ends_in_weighted_isotonic_regression():
    rng = np.random.default_rng(0)
    y, weight = rng.normal(size=500), rng.uniform(0.1, 5, size=500)
    path = near_isotonic_path(y, weight)
    expected = isotonic_regression(y, weights=weight).x
    np.testing.assert_allclose(path.solution(path.lambdas[-1]), expected, rtol=0, atol=1e-12)


@given(arrays(float, st.integers(1, 60), elements=values))
def test_the_path_starts_at_the_data(y):
    path = near_isotonic_path(y)
    assert path.lambdas[0] == 0
    np.testing.assert_array_equal(path.solution(0.0), y)


@given(arrays(float, st.integers(1, 60), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
def test_group_counts_agree_with_the_solutions(y):
    path = near_isotonic_path(y)
    for lam, n_groups in zip(path.lambdas, path.n_groups, strict=True):
        distinct = np.count_nonzero(np.abs(np.diff(path.solution(lam))) > 1e-9) + 1
        assert n_groups == distinct == len(path.groups(lam))


@given(arrays(float, st.integers(1, 60), elements=values), st.data())
def test_memberships_are_the_groups_of_each_breakpoint(y, data):
    path = near_isotonic_path(y)
    some = st.sets(st.integers(0, len(path.lambdas) - 1), min_size=1)
    breakpoints = np.array(sorted(data.draw(some)))
    nodes, position = path.memberships(breakpoints)
    for place, index in enumerate(breakpoints):
        found = nodes[position == place]
        np.testing.assert_array_equal(np.sort(found), np.sort(path.groups(path.lambdas[index])))
    assert len(nodes) == path.n_groups[breakpoints].sum()


def test_integer_weights_are_equivalent_to_repeated_points():
    rng = np.random.default_rng(3)
    y, weight = rng.normal(size=30), rng.integers(1, 5, size=30)
    weighted = near_isotonic_path(y, weight)
    repeated = near_isotonic_path(np.repeat(y, weight))
    np.testing.assert_allclose(weighted.lambdas, repeated.lambdas, rtol=1e-10)
    for lam in weighted.lambdas:
        np.testing.assert_allclose(
            np.repeat(weighted.solution(lam), weight), repeated.solution(lam), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize(
    ("y", "lambdas", "last"),
    [
        ([0.7], [0.0], [0.7]),
        ([0.2, 0.2, 0.2], [0.0], [0.2, 0.2, 0.2]),
        ([0.0, 0.3, 0.9], [0.0], [0.0, 0.3, 0.9]),
        ([1.0, 0.0], [0.0, 0.5], [0.5, 0.5]),
        ([1.0, 0.0, 0.5], [0.0, 0.5], [0.5, 0.5, 0.5]),
    ],
    ids=["one point", "constant", "isotonic", "reversed", "meets a neighbor exactly"],
)
def test_simple_paths(y, lambdas, last):
    path = near_isotonic_path(y)
    np.testing.assert_allclose(path.lambdas, lambdas)
    np.testing.assert_allclose(path.solution(path.lambdas[-1]), last)
    assert path.n_groups[-1] == len(set(last))


def test_memory_is_linear_in_the_number_of_points():
    peaks = []
    for n in (4_000, 16_000):
        y = np.random.default_rng(0).integers(0, 2, size=n).astype(float)
        tracemalloc.start()
        near_isotonic_path(y)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 6 * peaks[0]


def test_small_steps_next_to_large_ones_are_kept():
    path = near_isotonic_path([1e-3, 0.0, 1e10])
    np.testing.assert_allclose(path.lambdas, [0.0, 5e-4])
    np.testing.assert_allclose(path.solution(5e-4), [5e-4, 5e-4, 1e10])


def test_values_that_differ_in_the_last_bit_are_distinct_at_first():
    y = np.array([np.nextafter(1.0, 2.0), 1.0, 2.0])
    path = near_isotonic_path(y)
    assert path.n_groups.tolist() == [3, 2]
    np.testing.assert_array_equal(path.solution(0.0), y)


def test_the_largest_and_smallest_values_and_weights_are_accepted():
    path = near_isotonic_path([1e100, -1e100], [1e-100, 1e100])
    np.testing.assert_allclose(path.solution(np.inf), [-1e100, -1e100])


def test_input_is_not_modified():
    y, weight = np.array([1.0, 0.0, 0.5]), np.array([1.0, 2.0, 3.0])
    near_isotonic_path(y, weight)
    np.testing.assert_array_equal(y, [1.0, 0.0, 0.5])
    np.testing.assert_array_equal(weight, [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), r"at least one point, got shape \(0,\)"),
        (([[0.0, 1.0]],), r"one-dimensional .* got shape \(1, 2\)"),
        (([0.0, np.nan],), r"y must be finite .* got values from nan"),
        (([0.0, 1.0], [1.0]), r"the same shape as y, \(2,\), got \(1,\)"),
        (([0.0, 1.0], [1.0, 0.0]), r"between 1e-100 and 1e\+100, got values from 0 to 1\. Drop"),
        (([0.0, 1e200],), r"within \+-1e\+100, got values from 0 to 1e\+200"),
        (([0.0, 1.0], [1.0, np.inf]), r"got values from 1 to inf"),
    ],
)
def test_invalid_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        near_isotonic_path(*arguments)


@pytest.mark.parametrize("lam", [-0.1, np.nan])
def test_invalid_penalties_are_refused(lam):
    with pytest.raises(ValueError, match="lam must be at least 0"):
        near_isotonic_path([1.0, 0.0]).solution(lam)


def test_an_infinite_penalty_gives_the_isotonic_regression():
    y = np.array([3.0, 1.0, 2.0, 0.0, 5.0, 4.0])
    expected = isotonic_regression(y).x
    np.testing.assert_allclose(near_isotonic_path(y).solution(np.inf), expected, rtol=1e-14)
