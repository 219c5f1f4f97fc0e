import sys

import pytest

from calibrant._core.progress import track, track_bytes


@pytest.fixture
def hours(monkeypatch):
    """The time in hours, read by all clocks."""
    now = [0.0]
    for clock in ("time.perf_counter", "rich.console.monotonic"):
        monkeypatch.setattr(clock, lambda: 3600 * now[0])
    return now


def work(hours, n_items, step):
    for item in range(n_items):
        hours[0] += step
        yield item


def test_a_log_gets_one_line_per_minute_and_the_last(hours, capsys):
    items = track(work(hours, 10, 1 / 180), 10, "running")  # 20 seconds each
    assert list(items) == list(range(10))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "running: 3 of 10, 0:02:20 left",
        "running: 6 of 10, 0:01:20 left",
        "running: 9 of 10, 0:00:20 left",
        "running: 10 of 10, 0:00:00 left",
    ]


@pytest.mark.parametrize("with_rich", [True, False])
def test_on_a_terminal_the_time_left_is_estimated_from_all_items(
    with_rich, hours, capsys, monkeypatch
):
    """By default, rich forgets items older than half a minute, and then shows no estimate."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    if not with_rich:
        monkeypatch.setitem(sys.modules, "rich.progress", None)
    tracked = track(work(hours, 6, 2.0), 6, "running")
    for _ in range(5):
        next(tracked)
    tracked.close()
    assert "4:00:00" in capsys.readouterr().err


def test_a_download_is_counted_in_bytes_on_a_terminal_only(capsys, monkeypatch):
    blocks = [b"a" * 1000, b"b" * 500]
    assert list(track_bytes(iter(blocks), 1500, "iris")) == blocks
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert list(track_bytes(iter(blocks), 1500, "iris")) == blocks
    assert "1.5/1.5 kB" in capsys.readouterr().err
