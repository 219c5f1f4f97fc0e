import numpy as np
import pytest

from calibrant._core import workers
from calibrant.planning.simulation import find_rows, round_up, simulate_sizes

SIZES = [100, 200, 400, 800]


@pytest.mark.parametrize("wanted", [1.0, 0.6, 0.3, 0.05])
@pytest.mark.parametrize("n_unknown", [0, 2])
def test_the_root_law_is_found_inside_and_outside_of_the_sizes(wanted, n_unknown):
    values = 8.0 / np.sqrt(SIZES)
    values[:n_unknown] = np.inf
    expected = max(64.0 / wanted**2, SIZES[n_unknown - 1] if n_unknown else 0.0)
    assert find_rows(SIZES, values, wanted) == pytest.approx(expected)


def test_any_power_law_is_interpolated():
    values = np.array([3.0 * size**-0.8 for size in SIZES])
    assert find_rows(SIZES, values, 3.0 * 555**-0.8) == pytest.approx(555)


def test_the_last_crossing_counts_and_unreachable_values_are_infinite():
    assert 400 < find_rows(SIZES, np.array([0.5, 1.5, 1.2, 0.8]), 1.0) < 800
    assert find_rows(SIZES, np.full(4, np.inf), 1.0) == np.inf
    assert round_up(np.inf) == np.inf


def simulate(size, seed):
    return np.random.RandomState(seed).uniform(size=2) / size


def test_results_depend_on_the_seed_and_not_on_the_number_of_jobs(monkeypatch):
    one = simulate_sizes(simulate, SIZES, 3, np.random.RandomState(0), n_jobs=1)
    assert one.shape == (4, 3, 2)
    monkeypatch.setattr(workers, "WORKER_START_SECONDS", -1.0)  # always start them
    two = simulate_sizes(simulate, SIZES, 3, np.random.RandomState(0), n_jobs=2)
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, simulate_sizes(simulate, SIZES, 3, np.random.RandomState(1)))


def test_progress_is_told_how_many_simulations_there_are():
    seen = []

    def progress(items, total):
        seen.append(total)
        return iter(items)

    simulate_sizes(simulate, SIZES, 2, np.random.RandomState(0), progress=progress)
    assert seen == [8]
