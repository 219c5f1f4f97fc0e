"""A command that is ended by a signal leaves no process, shared memory or file behind."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are read in /proc"),
]

SECONDS_TO_START, SECONDS_TO_CLEAN_UP = 90.0, 5.0
# For the modules that a worker imports before it notices the end of its command.
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


@contextmanager
def started(*arguments, **options):
    """Start a program in a session of its own, whose processes are ended afterwards."""
    command = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        **options,
    )
    try:
        yield command
    finally:
        for process in processes_of(command.pid):
            os.kill(process, signal.SIGKILL)
        command.wait()


# Ended while workers start, or while they work.
@pytest.mark.parametrize("seconds", [0.0, SECONDS_TO_IMPORT])
@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_nothing_is_left_after_five_seconds(sent, code, seconds, tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{x:.3f},{y:.3f},{'abc'[k % 3]}" for k, (x, y) in enumerate(rng.normal(size=(150, 2)))]
    (tmp_path / "t.csv").write_text("\n".join(["x,y,class", *rows]))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    arguments = ["-m", "calibrant", "report", "t.csv", "--target", "class", "--jobs", "2"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with started(*arguments, cwd=tmp_path, env=environment) as command:
        # The command, two workers, and at least one tracker of their resources.
        assert wait_until(lambda: len(processes_of(command.pid)) >= 4, SECONDS_TO_START)
        time.sleep(seconds)
        command.send_signal(sent)
        assert command.wait(SECONDS_TO_CLEAN_UP) == code
        assert wait_until(lambda: not processes_of(command.pid), SECONDS_TO_CLEAN_UP)
        assert shared_memory_of(command.pid) == []
        assert list(temporary.iterdir()) == []
        assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["t.csv"]


IDLE_WORKER = """
import time
from joblib import Parallel, delayed
from calibrant._core.signals import begin_command
from calibrant._core.workers import worker_options

begin_command()
Parallel(n_jobs=2, **worker_options())([delayed(time.sleep)(600)])
"""


def test_workers_without_a_task_of_calibrant_end_with_a_killed_command():
    # One of the two workers has no task at all.
    with started("-c", IDLE_WORKER) as command:
        assert wait_until(lambda: len(processes_of(command.pid)) >= 4, SECONDS_TO_START)
        time.sleep(SECONDS_TO_IMPORT)
        command.kill()
        assert wait_until(lambda: not processes_of(command.pid), SECONDS_TO_CLEAN_UP)


HALF_A_FILE = """
import time
from calibrant._core.files import open_atomically

with open_atomically("out.csv") as file:
    file.write(b"half of it")
    file.flush()
    print("written", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name are Linux's")
def test_a_process_that_is_killed_while_it_writes_leaves_no_part_of_the_file(tmp_path):
    (tmp_path / "out.csv").write_text("old")
    with subprocess.Popen(
        [sys.executable, "-c", HALF_A_FILE], cwd=tmp_path, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"written\n"
        process.kill()
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "old"
