"""A command that is ended by a signal leaves no process, shared memory or file behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are read in /proc"),
]

SECONDS_TO_START, SECONDS_TO_CLEAN_UP = 90.0, 5.0
# A worker notices the end of its command from its first task on, for which it imports modules.
SECONDS_TO_IMPORT = 4.0


def processes_of(session):
    """The running processes of a session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, member_of = stat.read_text().rsplit(")", 1)[1].split()[:4]
        except OSError:  # it has just ended
            continue
        if int(member_of) == session and state != "Z":
            found.append(int(stat.parent.name))
    return found


def shared_memory_of(process):
    return [path.name for path in Path("/dev/shm").glob(f"*[-_]{process}[-_]*")]


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_nothing_is_left_after_five_seconds(sent, code, tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{x:.3f},{y:.3f},{'abc'[k % 3]}" for k, (x, y) in enumerate(rng.normal(size=(150, 2)))]
    (tmp_path / "t.csv").write_text("\n".join(["x,y,class", *rows]))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = subprocess.Popen(
        [sys.executable, "-m", "calibrant", "report", "t.csv", "--target", "class", "--jobs", "2"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        # The command, two workers, and at least one tracker of their resources.
        assert wait_until(lambda: len(processes_of(command.pid)) >= 4, SECONDS_TO_START)
        time.sleep(SECONDS_TO_IMPORT)
        command.send_signal(sent)
        assert command.wait(SECONDS_TO_CLEAN_UP) == code
        assert wait_until(lambda: not processes_of(command.pid), SECONDS_TO_CLEAN_UP)
        assert shared_memory_of(command.pid) == []
        assert list(temporary.iterdir()) == []
        assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["t.csv"]
    finally:
        for process in processes_of(command.pid):
            os.kill(process, signal.SIGKILL)
