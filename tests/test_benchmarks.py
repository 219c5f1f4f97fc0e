import time
from itertools import count

import pytest

from benchmarks.timing import Row, compare, growth, measure


def test_a_ratio_is_the_median_of_ratios_in_turns():
    # The machine is twice as slow from turn to turn; only the ratio stays.
    ours, peer = (map(float, seconds) for seconds in ([9, 3, 6, 12], [9, 2, 4, 8]))
    row = compare("work", lambda: next(ours), lambda: next(peer), limit=1.5, repeats=3)
    assert row == Row("work", 6.0, 4.0, 1.5, 1.5)
    assert row.holds


def test_a_speedup_must_be_at_least_its_limit():
    row = compare("work", lambda: 1.0, lambda: 20.0, limit=20, speedup=True)
    assert row.ratio == 20
    assert row.holds
    assert not Row("work", 1.0, 19.0, 19.0, 20, speedup=True).holds
    assert not Row("work", 1.0, 1.0, float("nan"), 20).holds


def test_work_is_timed_beside_work_or_a_published_time():
    row = measure("sleep", lambda: time.sleep(0.02), lambda: time.sleep(0.01), limit=10)
    assert row.ours >= 0.02
    assert row.peer >= 0.01
    assert measure("sleep", lambda: time.sleep(0.02), 4.0, limit=10).peer == 4.0


@pytest.mark.parametrize("exponent", [1, 2])
def test_growth_is_the_exponent_of_time_over_size(monkeypatch, exponent):
    clock = count()

    def work_of(size):
        return lambda: [next(clock) for _ in range(size**exponent - 1)]

    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
    row = growth("work", work_of, [10, 100, 1000 // exponent], limit=1.2)
    assert row.ratio == pytest.approx(exponent)
    assert row.holds == (exponent == 1)
