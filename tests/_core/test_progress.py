import re
import time

import pytest

from calibrant._core import progress


def work(seconds):
    for item, wait in enumerate(seconds):
        time.sleep(wait)
        yield item


def test_a_log_gets_a_line_now_and_then_and_the_last(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.15)
    assert list(progress.track(work([0.05] * 10), 10, "running")) == list(range(10))
    printed = capsys.readouterr()
    lines = printed.err.splitlines()
    assert printed.out == ""
    assert 2 <= len(lines) <= 4
    assert all(re.fullmatch(r"running: \d+ of 10, 0:00:0\d left", line) for line in lines)
    assert lines[-1] == "running: 10 of 10, 0:00:00 left"


@pytest.mark.parametrize("with_rich", [True, False])
def test_on_a_terminal_the_time_left_follows_from_all_items_so_far(with_rich, capsys, monkeypatch):
    """Rich by itself forgets items older than half a minute, and then has nothing to say."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    if not with_rich:
        monkeypatch.setitem(__import__("sys").modules, "rich.progress", None)
    hours = [0.0]
    for clock in ("time.perf_counter", "rich.console.monotonic"):
        monkeypatch.setattr(clock, lambda: 3600 * hours[0])

    def slow_work():
        for item in range(6):
            hours[0] += 2.0
            yield item

    tracked = progress.track(slow_work(), 6, "running")
    for _ in range(5):
        next(tracked)
    tracked.close()
    assert "4:00:00" in capsys.readouterr().err
