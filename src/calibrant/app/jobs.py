"""Work in separate processes, which can be watched and stopped."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

# How many tasks run at the same time; others wait.
MOST_WORKERS = 3
# How many processes wait for the next task, having imported what it takes.
SPARE_WORKERS = 1
# A process that was asked to end is killed after this time.
SECONDS_TO_END = 2.0
SECONDS_BETWEEN_CHECKS = 0.05
# Work that no page asks about for so long is stopped. Browsers let pages in the background ask only
# once per minute.
SECONDS_UNWATCHED = 180.0
SECONDS_BETWEEN_LOOKS = 2.0
# Results are single lines, and those of wide tables are long.
LONGEST_LINE = 2**28
KILLED = (
    "The system ended this work, most likely because memory ran out. Close other programs, or use "
    "fewer rows or fewer models."
)
NOT_STARTED = (
    "The system must start a process for this work, but it cannot. Close other programs, and start "
    "it again."
)


class State(StrEnum):
    """The state of a job."""

    waiting = "waiting"
    running = "running"
    done = "done"
    failed = "failed"
    stopped = "stopped"


ENDED = frozenset({State.done, State.failed, State.stopped})


@dataclass(eq=False)
class Job:
    """A task of a project, with what is known about it.

    Attributes
    ----------
    task : str
        Name of the task.
    arguments : mapping
        Its arguments, as plain values.
    folder : Path
        The folder for its results.
    state : State
        Its state.
    progress : dict
        What is being done ("step"), and how many items of how many ("done", "total").
    result : mapping
        The result, if it is done.
    error : str
        What went wrong and what to do, if it failed.
    """

    task: str
    arguments: Mapping[str, Any]
    folder: Path
    state: State = State.waiting
    progress: dict[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    began: float = field(default_factory=time.monotonic)
    seen: float = field(default_factory=time.monotonic)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def key(self) -> str:
        """A name of the job that depends on the task and its arguments alone."""
        return make_key(self.task, self.arguments)

    @property
    def is_ended(self) -> bool:
        """Whether there is nothing left to wait for."""
        return self.state in ENDED

    @property
    def seconds_left(self) -> float | None:
        """The estimated time left; None if it is unknown."""
        done, total = self.progress.get("done", 0), self.progress.get("total", 0)
        began = self.progress.get("began")
        if not done or began is None:
            return None
        return (time.monotonic() - began) * (total - done) / done

    def touch(self) -> None:
        """Note that a page asks about the job, so that the work goes on."""
        self.seen = time.monotonic()

    def describe(self) -> dict[str, Any]:
        """Return what a page shows of the job."""
        left = self.seconds_left
        return {
            "state": self.state.value,
            "step": self.progress.get("step", "Starting"),
            "done": self.progress.get("done"),
            "total": self.progress.get("total"),
            "seconds_left": None if left is None else round(left),
        }

    def end(
        self, state: State, *, result: Mapping[str, Any] | None = None, error: str = ""
    ) -> None:
        """End the job, unless it has ended."""
        if not self.is_ended:
            self.state, self.result, self.error = state, result or {}, error
            self.ended.set()

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take a message of the process that works on the job."""
        if "progress" in message:
            began = self.progress.get("began")
            counts = "done" in message["progress"]
            now = time.monotonic() if counts else None
            self.progress = {**message["progress"], "began": began or now}
        elif "error" in message:
            self.end(State.failed, error=message["error"])
        elif "result" in message:
            self.end(State.done, result=message["result"])


def make_key(task: str, arguments: Mapping[str, Any]) -> str:
    """Return a short name for a task with its arguments; the same for the same."""
    content = json.dumps([task, arguments], sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()[:16]


class Worker:
    """A process that works on one job at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def start(cls, folder: Path) -> Worker:
        """Start a process that keeps its temporary files in a folder."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "calibrant.app.worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            start_new_session=True,  # so that it can be ended with the processes that it started
            env=os.environ
            | dict.fromkeys(("TMPDIR", "JOBLIB_TEMP_FOLDER"), str(folder))
            # What users should know is on the pages. Nothing is imported from the folder in which
            # the application or a task runs: it may hold a file like numpy.py.
            | {"PYTHONWARNINGS": "ignore", "PYTHONSAFEPATH": "1"},
        )
        return cls(process)

    @property
    def is_alive(self) -> bool:
        """Whether the process can take a job."""
        return self.process.returncode is None

    async def work(self, job: Job) -> None:
        """Work on a job until it ends."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        content = {"task": job.task, "arguments": job.arguments, "folder": str(job.folder)}
        with suppress(ConnectionError):
            self.process.stdin.write(json.dumps(content).encode() + b"\n")
            await self.process.stdin.drain()
        while not job.is_ended:
            line = await self.process.stdout.readline()
            if not line:
                await self.process.wait()
                job.end(State.failed, error=KILLED)
            else:
                job.hear(json.loads(line))

    async def stop(self) -> None:
        """End the process and those that it started."""
        self._signal(signal.SIGTERM)
        end = time.monotonic() + SECONDS_TO_END
        # joblib's tracker of resources removes files after the others have ended.
        while self._is_any_alive() and time.monotonic() < end:
            await asyncio.sleep(SECONDS_BETWEEN_CHECKS)
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        await self.process.wait()

    def _is_any_alive(self) -> bool:
        return self._signal(0) if hasattr(os, "killpg") else self.is_alive

    def _signal(self, number: int) -> bool:
        """Send a signal to the process and those that it started; False if there are none."""
        try:
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, number)
            else:
                self.process.send_signal(number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


class Pool:
    """The processes of an application.

    Parameters
    ----------
    folder : Path
        The folder for their temporary files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._spare: list[Worker] = []
        self._tasks: dict[Job, asyncio.Task[None]] = {}
        self._starting: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(MOST_WORKERS)
        self._watch: asyncio.Task[None] | None = None
        self._is_open = False

    def open(self) -> None:
        """Start the first process, and watch over the work."""
        self._is_open = True
        self._watch = asyncio.create_task(self._stop_unwatched())
        self._prepare()

    async def close(self) -> None:
        """End all processes."""
        self._is_open = False
        if self._watch is not None:
            self._watch.cancel()
        await asyncio.gather(*map(self.stop, list(self._tasks)))
        await asyncio.gather(*self._starting, return_exceptions=True)
        await asyncio.gather(*(worker.stop() for worker in self._spare))
        self._spare.clear()

    def start(self, job: Job) -> None:
        """Start a job, or let it wait until there is a place for it."""
        job.folder.mkdir(parents=True, exist_ok=True)
        task = asyncio.create_task(self._run(job))
        self._tasks[job] = task
        task.add_done_callback(lambda _: self._tasks.pop(job, None))

    async def stop(self, job: Job) -> None:
        """Stop a job and the processes that work on it."""
        task = self._tasks.get(job)
        # Work that has ended is not interrupted: its process is being ended, or kept.
        is_active = not job.is_ended
        job.end(State.stopped)
        if task is None:
            return
        if is_active:
            task.cancel()
        await asyncio.wait([task])

    async def _run(self, job: Job) -> None:
        async with self._places:
            if job.is_ended:
                return
            job.state, job.began = State.running, time.monotonic()
            try:
                worker = await self._take()
            except OSError as error:
                job.end(State.failed, error=f"{NOT_STARTED} ({error.strerror})")
                return
            try:
                await worker.work(job)
            except asyncio.CancelledError:
                await worker.stop()
                self._prepare()
                raise
            except Exception as error:  # a message that cannot be read, for example
                job.end(State.failed, error=f"{KILLED} ({type(error).__name__})")
                await worker.stop()
            if worker.is_alive and len(self._spare) < SPARE_WORKERS:
                self._spare.append(worker)
            elif worker.is_alive:
                await worker.stop()

    async def _take(self) -> Worker:
        """Return a process without a job."""
        if self._starting:
            # Not `gather`, which would cancel them for all others if this job is stopped.
            await asyncio.wait(self._starting)
        alive = [worker for worker in self._spare if worker.is_alive]
        self._spare = alive[1:]
        return alive[0] if alive else await Worker.start(self._folder)

    def _prepare(self) -> None:
        """Start a process for the next job."""

        async def start() -> None:
            if self._is_open:
                with suppress(OSError):  # the next job says so, if it cannot have one either
                    self._spare.append(await Worker.start(self._folder))

        task = asyncio.create_task(start())
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _stop_unwatched(self) -> None:
        """Stop work whose page was closed."""
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            now = time.monotonic()
            for job in [job for job in self._tasks if now - job.seen > SECONDS_UNWATCHED]:
                await self.stop(job)
