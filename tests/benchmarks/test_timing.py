import time
from itertools import count

import pytest

from benchmarks.timing import Row, compare, growth, measure


@pytest.fixture
def clock(monkeypatch):
    """A clock that advances by one second whenever it is read."""
    ticks = count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    return ticks


def test_ratio_is_the_median_of_the_ratios_of_turns():
    # The machine slows down from turn to turn; only the ratio stays.
    seconds, peer_seconds = (iter(times) for times in ([9.0, 3, 6, 12], [9.0, 2, 4, 8]))
    row = compare("work", lambda: next(seconds), lambda: next(peer_seconds), limit=1.5, repeats=3)
    assert row == Row("work", 6.0, 4.0, 1.5, 1.5)
    assert row.holds


def test_speedup_must_be_at_least_its_limit():
    row = compare("work", lambda: 1.0, lambda: 20.0, limit=20, speedup=True)
    assert row.ratio == 20
    assert row.holds
    assert not Row("work", 1.0, 19.0, 19.0, 20, speedup=True).holds


def test_a_missing_ratio_does_not_hold():
    assert not Row("work", 1.0, 1.0, float("nan"), 20).holds
    assert not Row("work", 1.0, 1.0, float("nan"), 20, speedup=True).holds


def test_work_is_timed_against_other_work(clock):
    row = measure("work", lambda: [next(clock) for _ in range(5)], lambda: next(clock), limit=10)
    assert (row.seconds, row.peer_seconds, row.ratio) == (6.0, 2.0, 3.0)


@pytest.mark.parametrize("exponent", [1, 2])
def test_growth_is_the_exponent_of_time_over_size(clock, exponent):
    def make_work(size):
        return lambda: [next(clock) for _ in range(size**exponent - 1)]

    row = growth("work", make_work, [10, 100, 1000 // exponent], limit=1.2)
    assert row.ratio == pytest.approx(exponent)
    assert row.holds == (exponent == 1)
