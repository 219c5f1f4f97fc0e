"""The progress of work, and its end by the user."""

from __future__ import annotations

import re

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from calibrant.app.jobs import Job
from calibrant.app.pages.common import GONE, address, get_pool, get_project, read_form

# A step of a project, as part of its address.
STEP = re.compile(r"[a-z]+(?:/[0-9a-f]+)?")


def get_job(request: Request) -> Job:
    """Return the job that the address of a request names."""
    job = get_project(request).jobs.get(request.path_params["job"])
    if job is None:
        raise HTTPException(404, GONE)
    return job


async def progress(request: Request) -> Response:
    """Return the state of a job for the script."""
    job = get_job(request)
    job.touch()
    return JSONResponse(job.describe())


async def stop(request: Request) -> Response:
    """Stop a job."""
    job = get_job(request)
    form = await read_form(request)
    await get_pool(request).stop(job)
    return _return(request, form)


async def restart(request: Request) -> Response:
    """Start a stopped job again."""
    job = get_job(request)
    form = await read_form(request)
    project = get_project(request)
    project.request(get_pool(request), job.task, job.arguments, again=True)
    if job.task == "update":  # when it was stopped, the model before it took its place
        project.choices["model"] = job.key
    return _return(request, form)


def _return(request: Request, form: dict[str, list[str]]) -> Response:
    """Send the browser back to the step from which a form was sent."""
    project = get_project(request)
    step = form.get("step", [""])[0]
    is_known = STEP.fullmatch(step) is not None
    return RedirectResponse(address(request, project, *([step] if is_known else [])), 303)
