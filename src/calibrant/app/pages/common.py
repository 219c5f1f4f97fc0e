"""What all pages share: projects by address, forms, jobs that may take a while."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from calibrant.app.jobs import Job, Pool, State
from calibrant.app.projects import Entrance, Project, Projects
from calibrant.app.rendering import render
from calibrant.app.uploads import UploadError, read_form_body

# A page waits so long for work to end before it shows the progress.
SECONDS_TO_WAIT = 1.0
# The steps of a project, by address, with their names.
STEPS = {
    Entrance.table: {
        "columns": "Columns",
        "target": "What to predict",
        "report": "Report",
        "model": "Model",
        "use": "Use it",
    },
    Entrance.probabilities: {
        "outcomes": "Probabilities and outcomes",
        "report": "Report",
        "use": "Use it",
    },
    Entrance.model: {"use": "Use it"},
}
# The step in which the user can change what made a task fail, by task.
STEP_TO_MEND = {
    "preview": "columns",
    "check": "target",
    "report": "target",
    "fit": "model",
    "predict": "use",
    "case": "use",
    "validate": "use",
    "update": "use",
    "assign": "outcomes",
    "calibrate": "outcomes",
}
GONE = (
    "This page belongs to a file that calibrant no longer has, because it was restarted. Choose "
    "the file again."
)


class PageError(Exception):
    """What went wrong, in words for the user.

    Parameters
    ----------
    text : str
        What went wrong and what to do.
    back : str
        The step to go back to, as part of the address of the project.
    """

    def __init__(self, text: str, back: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.back = back


def get_pool(request: Request) -> Pool:
    """Return the processes of the application."""
    pool: Pool = request.app.state.pool
    return pool


def get_projects(request: Request) -> Projects:
    """Return the projects of the application."""
    projects: Projects = request.app.state.projects
    return projects


def get_project(request: Request) -> Project:
    """Return the project that the address of a request names."""
    project = get_projects(request).get(request.path_params["project"])
    if project is None:
        raise HTTPException(404, GONE)
    return project


def address(request: Request, project: Project | None = None, *parts: str) -> str:
    """Return an address of the application, or of a project."""
    root = request.scope["root_path"]
    if project is None:
        return "/".join([root, *parts]) if parts else f"{root}/"
    return "/".join([root, "p", project.key, *parts])


def redirect(request: Request, project: Project, *parts: str) -> Response:
    """Send the browser to another page after a form, so that a refresh does not send it again."""
    return RedirectResponse(address(request, project, *parts), 303)


async def read_form(request: Request) -> dict[str, list[str]]:
    """Return the values of a form by name."""
    try:
        body = await read_form_body(request)
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=100_000)
    except (UploadError, ValueError) as error:
        text = str(error) if isinstance(error, UploadError) else "The form cannot be read. Go back."
        raise PageError(text) from None


def show(
    request: Request, template: str, project: Project | None = None, step: str = "", **context: Any
) -> HTMLResponse:
    """Return a page."""
    status = context.pop("status", 200)
    return HTMLResponse(render(template, **frame(request, project, step), **context), status)


def frame(request: Request, project: Project | None, step: str) -> Mapping[str, Any]:
    """Return the variables of every page."""
    return {
        "root": request.scope["root_path"],
        "project": project,
        "base": "" if project is None else address(request, project),
        "step": step,
        "steps": {} if project is None else STEPS[project.entrance],
        "reached": set() if project is None else _find_reached(project),
    }


def _find_reached(project: Project) -> set[str]:
    """Return the steps that a project can go to."""
    reached = {"columns", "target", "outcomes"}
    report = report_of(project)
    if report is not None:
        reached.add("report")
        if report.state is State.done:
            reached.add("model")
    if "model" in project.choices:
        reached.add("use")
    return reached


def report_of(project: Project) -> Job | None:
    """Return the latest job that writes a report."""
    return project.find("report" if project.entrance is Entrance.table else "calibrate")


async def wait_for(request: Request, project: Project, job: Job, step: str) -> Response | None:
    """Return None if a job is done, or else a page on its progress, its end or its error."""
    job.touch()
    here = request.url.path.removeprefix(f"{address(request, project)}/")
    if not job.is_ended:
        try:
            await asyncio.wait_for(job.ended.wait(), SECONDS_TO_WAIT)
        except TimeoutError:
            return show(request, "progress.html", project, step, job=job, here=here)
    if job.state is State.done:
        return None
    if job.state is State.stopped:
        return show(request, "stopped.html", project, step, job=job, here=here)
    wants = job.arguments.get("sheet") or job.arguments.get("missing")
    is_mendable = job.task != "preview" or wants
    raise PageError(job.error, STEP_TO_MEND.get(job.task, "") if is_mendable else "")


def send_file(job: Job, name: str, saved_as: str) -> FileResponse:
    """Return a file that a job wrote, to be saved under a name."""
    kinds = {".html": "text/html; charset=utf-8", ".json": "application/json"}
    suffix = name[name.rfind(".") :]
    disposition = f"attachment; filename*=utf-8''{quote(saved_as)}"
    return FileResponse(
        job.folder / name,
        media_type=kinds.get(suffix, "application/octet-stream"),
        headers={"content-disposition": disposition},
    )
