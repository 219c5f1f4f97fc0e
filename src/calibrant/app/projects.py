"""Projects: a file, what the user chose for it, and the work that was done on it.

Every project has its own folder and its own address, so that two tabs do not mix.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from calibrant.app.jobs import Job, Pool, State, make_key

# Characters that are not kept in the names of files.
UNSAFE = re.compile(r"[^\w. ()+-]", re.ASCII)
LONGEST_NAME = 80


class Entrance(StrEnum):
    """What a project starts from."""

    table = "table"
    probabilities = "probabilities"
    model = "model"


@dataclass
class Project:
    """A file and the work on it.

    Attributes
    ----------
    key : str
        Its part of the address.
    folder : Path
        The folder of all its files.
    entrance : Entrance
        What it starts from.
    title : str
        The name of the file that it starts from, as the user knows it.
    file : Path
        The file.
    location : str
        The file in commands: its path if the application was started with it, or else its name.
    choices : dict
        What the user chose, by step.
    jobs : dict of str to Job
        The work, by key.
    latest : dict of str to str
        The key of the latest job, by task.
    """

    key: str
    folder: Path
    entrance: Entrance
    title: str
    file: Path
    location: str
    choices: dict[str, Any] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    latest: dict[str, str] = field(default_factory=dict)

    def find(self, task: str) -> Job | None:
        """Return the latest job of a task."""
        return self.jobs.get(self.latest.get(task, ""))

    def request(
        self, pool: Pool, task: str, arguments: Mapping[str, Any], *, again: bool = False
    ) -> Job:
        """Return the job of a task, and start it unless it was started before.

        Parameters
        ----------
        pool : Pool
            The processes for the work.
        task : str
            Name of the task.
        arguments : mapping
            Its arguments, as plain values.
        again : bool, default=False
            Whether to start it again if it was stopped or failed.
        """
        key = make_key(task, arguments)
        job = self.jobs.get(key)
        if job is None or (again and job.state in (State.stopped, State.failed)):
            job = Job(task, dict(arguments), self.folder / key)
            self.jobs[key] = job
            pool.start(job)
        self.latest[task] = key
        return job

    def add_file(self, name: str) -> Path:
        """Return a new path for a file that the user adds, with a harmless name like its own."""
        folder = self.folder / secrets.token_hex(4)
        folder.mkdir()
        return folder / clean_name(name)


def clean_name(name: str) -> str:
    """Return a name for a file, without folders and characters that may cause trouble."""
    last = re.split(r"[/\\]", name)[-1]
    stem, dot, suffix = UNSAFE.sub("_", last).rpartition(".")
    stem = (stem if dot else suffix)[:LONGEST_NAME].strip(". -") or "file"
    return f"{stem}.{suffix[:10]}" if dot else stem


def locate(file: Path) -> dict[str, str]:
    """Return the arguments of a task that name a file and the folder that it is in.

    A task runs in that folder, so that its messages call the file by its name alone.
    """
    return {"place": str(file.parent), "file": file.name}


def is_model(file: Path) -> bool:
    """Whether a file is a saved model, going by the names in its archive."""
    try:
        with ZipFile(file) as archive:
            return "schema.json" in archive.namelist()
    except (BadZipFile, OSError, ValueError, NotImplementedError):
        return False


class Projects:
    """All projects of an application, in a folder.

    Parameters
    ----------
    folder : Path
        The private folder of the application.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._projects: dict[str, Project] = {}

    def create(self, entrance: Entrance, title: str, location: str | None = None) -> Project:
        """Create a project without the content of its file, which is not listed yet."""
        key = secrets.token_hex(8)
        folder = self.folder / key
        folder.mkdir(mode=0o700)
        name = title[-200:] or "file"
        return Project(key, folder, entrance, name, folder / clean_name(name), location or name)

    def add(self, project: Project) -> None:
        """List a project whose file is complete; a model may be dropped where a table should."""
        if is_model(project.file):
            project.entrance = Entrance.model
        self._projects[project.key] = project

    def newest_first(self) -> list[Project]:
        """Return all projects whose file is complete."""
        return list(reversed(self._projects.values()))

    def get(self, key: str) -> Project | None:
        """Return a project by its part of the address."""
        return self._projects.get(key)
