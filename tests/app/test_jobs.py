"""Work can be watched and stopped, and ends if nobody watches."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from calibrant.app import jobs
from tests.app.visiting import make_table, project_of

LONG = {"target": "3", "model": "boosting", "effort": "thorough"}


def start_long_work(visitor, seed):
    """Start work that takes minutes, and return the address of its job once it runs."""
    page = visitor.put(f"{visitor.home}/upload/table", make_table(300, seed=seed))
    project = project_of(page)
    page = visitor.client.post(f"{project}/target", data=LONG)
    job = visitor.origin + page.text.split('data-job="')[1].split('"')[0]
    end = time.monotonic() + 60
    while not visitor.client.get(job).json()["total"] and time.monotonic() < end:
        time.sleep(0.1)
    return project, job


def count_children():
    """The processes that this one has started, and theirs."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(stat.parent.name)] = int(parent)
    family = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return len(family) - 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are read in /proc")
def test_a_stop_ends_the_work_within_five_seconds(visitor):
    visitor.post(f"{visitor.home}/example")  # the first worker has started
    before = count_children()
    project, job = start_long_work(visitor, 1)
    shown = visitor.client.get(job).json()
    assert shown["state"] == "running"
    assert shown["total"] == 51
    start = time.monotonic()
    page = visitor.client.post(f"{job}/stop", data={"step": "report"})
    assert "Stopped" in page.text
    end = time.monotonic() + 5
    while count_children() > before and time.monotonic() < end:
        time.sleep(0.05)
    assert count_children() <= before
    assert time.monotonic() - start < 5
    assert visitor.client.get(job).json()["state"] == "stopped"
    # A refresh shows that it was stopped, and does not start it again.
    assert "Stopped" in visitor.client.get(f"{project}/report").text


def test_work_without_a_page_is_stopped(visitor, monkeypatch):
    _, job = start_long_work(visitor, 2)
    monkeypatch.setattr(jobs, "SECONDS_UNWATCHED", -1.0)
    time.sleep(jobs.SECONDS_BETWEEN_LOOKS + 1)
    assert visitor.client.get(job).json()["state"] == "stopped"


def test_a_job_has_the_same_name_for_the_same_arguments():
    first = jobs.make_key("report", {"a": 1, "b": [2]})
    assert first == jobs.make_key("report", {"b": [2], "a": 1})
    assert first != jobs.make_key("report", {"a": 1, "b": [3]})
    assert first != jobs.make_key("fit", {"a": 1, "b": [2]})


def test_a_stop_while_processes_start_does_not_touch_other_jobs(tmp_path):
    async def work():
        pool = jobs.Pool(tmp_path)
        pool.open()
        stopped, other = (
            jobs.Job("example", {"file": name}, tmp_path / name) for name in ("first", "second")
        )
        pool.start(stopped)
        pool.start(other)
        await asyncio.sleep(0)  # both wait for the first process
        await pool.stop(stopped)
        await asyncio.wait_for(other.ended.wait(), 60)
        await pool.close()
        return stopped.state, other.state

    assert asyncio.run(work()) == (jobs.State.stopped, jobs.State.done)


def test_work_without_a_process_fails_in_words(tmp_path, monkeypatch):
    async def refuse(folder):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    async def work():
        pool = jobs.Pool(tmp_path)
        pool.open()
        job = jobs.Job("example", {"file": "table.csv"}, tmp_path / "job")
        pool.start(job)
        await asyncio.wait_for(job.ended.wait(), 5)
        await pool.close()
        return job

    monkeypatch.setattr(jobs.Worker, "start", refuse)
    job = asyncio.run(work())
    assert job.state is jobs.State.failed
    assert "Close other programs" in job.error


def test_a_second_stop_waits_for_the_first(tmp_path, monkeypatch):
    class Deaf:
        """A process that takes a while to end."""

        is_alive, is_stopped = True, False

        async def work(self, job):
            await asyncio.sleep(60)

        async def stop(self):
            await asyncio.sleep(0.1)
            self.is_alive, self.is_stopped = False, True

    async def work():
        pool = jobs.Pool(tmp_path)
        job = jobs.Job("example", {}, tmp_path / "job")
        pool.start(job)
        await asyncio.sleep(0.01)
        first = asyncio.create_task(pool.stop(job))
        await asyncio.sleep(0.01)
        await asyncio.gather(pool.stop(job), first)

    process = Deaf()

    async def start(folder):
        return process

    monkeypatch.setattr(jobs.Worker, "start", start)
    asyncio.run(work())
    assert process.is_stopped
