"""Outcomes: validate and update a model, or judge probabilities from elsewhere."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from calibrant.app.jobs import Job, State
from calibrant.app.pages.common import (
    PageError,
    frame,
    get_pool,
    get_project,
    read_form,
    redirect,
    send_file,
    show,
    wait_for,
)
from calibrant.app.pages.models import start_on_table
from calibrant.app.pages.tables import preview_of, reading_of
from calibrant.app.projects import Project, locate
from calibrant.app.rendering import add_bar, render

VALIDATION = "validation.html"


async def add_outcomes(request: Request) -> Response:
    """Take a table with outcomes, start the validation, and say where its page is."""
    return await start_on_table(request, "validate", "validation", title="the model", target=None)


def _validation(request: Request, project: Project) -> Job:
    job = project.jobs.get(request.path_params["job"])
    if job is None or job.task != "validate":
        raise PageError("There is no such validation. Choose the table again.", "use")
    return job


async def validation(request: Request) -> Response:
    """Show the page of a validation."""
    project = get_project(request)
    job = _validation(request, project)
    if page := await wait_for(request, project, job, "use"):
        return page
    content = (job.folder / VALIDATION).read_text(encoding="utf-8")
    bar = render("validation_bar.html", **frame(request, project, "use"), job=job)
    return HTMLResponse(add_bar(content, bar))


async def save_validation(request: Request) -> Response:
    """Send the page of a validation as a file."""
    project = get_project(request)
    job = _validation(request, project)
    if job.state is not State.done:
        return redirect(request, project, "validation", job.key)
    return send_file(job, VALIDATION, VALIDATION)


async def start_update(request: Request) -> Response:
    """Update the model on the rows of a validation; never twice on the same."""
    project = get_project(request)
    await read_form(request)
    job = _validation(request, project)
    arguments = {name: job.arguments[name] for name in ("model", "place", "data", "target")}
    updated = project.request(get_pool(request), "update", arguments, again=True)
    if updated.key != project.choices["model"]:
        project.choices["model before"] = project.choices["model"]
    project.choices["model"] = updated.key
    return redirect(request, project, "use")


async def outcomes(request: Request) -> Response:
    """Ask which column has the outcomes, and which ones the probabilities."""
    project = get_project(request)
    job = preview_of(request, project)
    if page := await wait_for(request, project, job, "outcomes"):
        return page
    target = project.choices.get("outcome")
    found = None
    if target is not None:
        assigned = project.request(get_pool(request), "assign", _given(project, target))
        if assigned.state is State.failed:
            project.choices.pop("outcome")  # so that another one can be chosen
        if page := await wait_for(request, project, assigned, "outcomes"):
            return page
        found = assigned.result
    return show(
        request, "outcomes.html", project, "outcomes", table=job.result, target=target, found=found
    )


def _given(project: Project, target: str) -> dict[str, object]:
    return {**locate(project.file), "target": target, **reading_of(project)}


async def choose_outcomes(request: Request) -> Response:
    """Keep the column of outcomes, or start to judge the probabilities."""
    project = get_project(request)
    form = await read_form(request)
    preview = project.find("preview")
    names = [] if preview is None else preview.result.get("names", [])
    if "target" in form:
        position = form["target"][0]
        if not position.isdecimal() or int(position) >= len(names):
            raise PageError("Choose the column of outcomes.", "outcomes")
        project.choices["outcome"] = names[int(position)]
        return redirect(request, project, "outcomes")
    assigned = project.find("assign")
    if assigned is None or assigned.state is not State.done or "outcome" not in project.choices:
        return redirect(request, project, "outcomes")
    chosen = {
        name: form.get(f"column-{position}", [""])[0]
        for position, name in enumerate(assigned.result["classes"])
    }
    known = assigned.result["numeric"]
    columns = {
        name: known[int(text)] if text.isdecimal() and int(text) < len(known) else None
        for name, text in chosen.items()
    }
    n_absent = sum(column is None for column in columns.values())
    if n_absent and (len(columns) > 2 or n_absent > 1):
        raise PageError("Choose a column of probabilities for each class.", "outcomes")
    arguments = {
        **_given(project, project.choices["outcome"]),
        "columns": columns,
        "location": project.location,
    }
    job = project.request(get_pool(request), "calibrate", arguments, again=True)
    project.choices["model"] = job.key
    return redirect(request, project, "report")
