"""From a table to a report: the columns, what to predict, the work, the page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from calibrant._core.registries import DEFAULT_MODELS
from calibrant.app.estimates import estimate_seconds
from calibrant.app.jobs import Job, State
from calibrant.app.pages.common import (
    PageError,
    frame,
    get_pool,
    get_project,
    read_form,
    redirect,
    report_of,
    send_file,
    show,
    wait_for,
)
from calibrant.app.projects import Project, locate
from calibrant.app.rendering import add_bar, render

# Folds and repeats of the cross-validation, by thoroughness.
EFFORTS = {"quick": (5, 1), "standard": (5, 3), "thorough": (10, 5)}
# How long the browser waits for a check of the choices, before it shows the progress.
SECONDS_TO_CHECK = 15.0
# How files are read unless the user wants it otherwise.
AS_FOUND: dict[str, Any] = {"sheet": None, "missing": []}
USES = ("", "number", "category", "ignore", "groups")


def reading_of(project: Project) -> dict[str, Any]:
    """Return how the user wants the file to be read."""
    return project.choices.setdefault("reading", dict(AS_FOUND))


def uses_of(project: Project) -> dict[str, str]:
    """Return the uses that the user chose for columns, by name."""
    return project.choices.setdefault("uses", {})


def preview_of(request: Request, project: Project) -> Job:
    """Return the job that reads the file, as the user wants it unless that failed."""
    job = _request_preview(request, project)
    if job.state is State.failed and reading_of(project) != AS_FOUND:
        project.choices.pop("reading")
        job = _request_preview(request, project)
    return job


def _request_preview(request: Request, project: Project) -> Job:
    arguments = {**locate(project.file), **reading_of(project)}
    return project.request(get_pool(request), "preview", arguments)


async def columns(request: Request) -> Response:
    """Show what was understood of each column."""
    project = get_project(request)
    job = preview_of(request, project)
    if page := await wait_for(request, project, job, "columns"):
        return page
    return show(
        request,
        "columns.html",
        project,
        "columns",
        found=job.result,
        uses=uses_of(project),
        reading=reading_of(project),
    )


async def choose_columns(request: Request) -> Response:
    """Keep the corrections of columns."""
    project = get_project(request)
    form = await read_form(request)
    job = project.find("preview")
    if job is None:
        return redirect(request, project, "columns")
    names = job.result.get("names", [])
    project.choices["uses"] = {
        name: use
        for position, name in enumerate(names)
        if (use := form.get(f"use-{position}", [""])[0]) in USES[1:]
    }
    sheet = form.get("sheet", [""])[0]
    missing = [value.strip() for value in form.get("missing", [""])[0].split(",")]
    reading = {"sheet": sheet or None, "missing": [value for value in missing if value]}
    is_changed = reading != reading_of(project)
    project.choices["reading"] = reading
    again = is_changed or "again" in form
    return redirect(request, project, "columns" if again else "target")


def request_of(project: Project) -> dict[str, Any]:
    """Return what the user asks for of the table, as the fields of a `TableRequest`."""
    uses = uses_of(project)
    target = project.choices["target"]
    named = {
        use: [name for name, chosen in uses.items() if chosen == use and name != target["name"]]
        for use in USES[1:]
    }
    return {
        "data": project.file.name,
        "target": target["name"],
        "groups": next(iter(named["groups"]), None),
        "ignore": named["ignore"],
        "categories": named["category"],
        "numbers": named["number"],
        "merge_case": target["merge_case"],
        "rare_classes": target["rare_classes"],
        **reading_of(project),
    }


async def target(request: Request) -> Response:
    """Ask what to predict, with which models, how thoroughly."""
    project = get_project(request)
    job = preview_of(request, project)
    if page := await wait_for(request, project, job, "target"):
        return page
    found, uses = job.result, uses_of(project)
    candidates = [
        column
        for column in found["columns"]
        if column["n_classes"] and uses.get(column["name"]) not in ("ignore", "groups")
    ]
    n_features = sum(column["kind"] != "ignored" for column in found["columns"])
    return show(
        request,
        "target.html",
        project,
        "target",
        found=found,
        candidates=candidates,
        others=[column for column in found["columns"] if column["problem"]],
        chosen=project.choices.get("target", {}),
        models=project.choices.get("models", DEFAULT_MODELS),
        effort=project.choices.get("effort", "standard"),
        efforts=EFFORTS,
        estimates={
            name: [
                estimate_seconds(name, found["n_rows"], n_features, *effort)
                for effort in EFFORTS.values()
            ]
            for name in found["models"]
        },
    )


async def choose_target(request: Request) -> Response:
    """Keep the choices, check them, and start the work unless there are warnings."""
    project = get_project(request)
    form = await read_form(request)
    job = preview_of(request, project)
    if page := await wait_for(request, project, job, "target"):
        return page
    names, known = job.result["names"], job.result["models"]
    position = form.get("target", [""])[0]
    if not position.isdecimal() or int(position) >= len(names):
        raise PageError("Choose the column to predict.", "target")
    models = [name for name in form.get("model", []) if name in known]
    if not models:
        raise PageError("Choose at least one model.", "target")
    rare = form.get("rare", ["keep"])[0]
    effort = form.get("effort", ["standard"])[0]
    project.choices |= {
        "target": {
            "name": names[int(position)],
            "position": int(position),
            "merge_case": "merge-case" in form,
            "rare_classes": rare if rare in ("keep", "merge", "drop") else "keep",
        },
        "models": models,
        "effort": effort if effort in EFFORTS else "standard",
    }
    checked = _request_check(request, project)
    with suppress(TimeoutError):
        await asyncio.wait_for(checked.ended.wait(), SECONDS_TO_CHECK)
    if checked.state is State.done and not list_warnings(checked):
        return await _start_report(request, project)
    return redirect(request, project, "check")


def _request_check(request: Request, project: Project) -> Job:
    arguments = {"place": str(project.folder), "rows": request_of(project)}
    return project.request(get_pool(request), "check", arguments)


def list_warnings(job: Job) -> list[dict[str, Any]]:
    """Return the warnings that a check has found."""
    return [each for each in job.result["notices"] if each["severity"] == "warning"]


async def check(request: Request) -> Response:
    """Show what looks wrong, before the work."""
    project = get_project(request)
    if "target" not in project.choices:
        return redirect(request, project, "target")
    job = _request_check(request, project)
    if page := await wait_for(request, project, job, "target"):
        return page
    notices, warnings = job.result["notices"], list_warnings(job)
    return show(
        request,
        "check.html",
        project,
        "target",
        found=job.result,
        target=project.choices["target"]["name"],
        warnings=[{**each, "remedy": describe_remedy(each["option"])} for each in warnings],
        notes=[each for each in notices if each["severity"] != "warning"],
    )


def describe_remedy(option: str | None) -> str:
    """Return the label of a button that follows the advice of a warning; empty if there is none."""
    name, _, value = (option or "").partition("=")
    return {
        "--ignore": f"Leave out {value}",
        "--groups": f"Keep rows with the same {value} together",
        "--merge-case": "Merge these classes",
    }.get(name, "")


async def follow_advice(request: Request) -> Response:
    """Change a choice as a warning advises, and check again."""
    project = get_project(request)
    form = await read_form(request)
    option = form.get("option", [""])[0]
    name, _, value = option.partition("=")
    job = project.find("check")
    if job is None or "target" not in project.choices:
        return redirect(request, project, "target")
    if option not in [each["option"] for each in job.result.get("notices", [])]:
        raise PageError("The advice no longer applies. Choose again.", "target")
    if name == "--merge-case":
        project.choices["target"] = {**project.choices["target"], "merge_case": True}
    elif name in ("--ignore", "--groups"):
        uses = uses_of(project)
        if name == "--groups":
            uses = {column: use for column, use in uses.items() if use != "groups"}
        project.choices["uses"] = {**uses, value: name.removeprefix("--")}
    return redirect(request, project, "check")


async def start_report(request: Request) -> Response:
    """Start the work on the report; the same choices never start it twice."""
    project = get_project(request)
    await read_form(request)
    if "target" not in project.choices:
        return redirect(request, project, "target")
    return await _start_report(request, project)


async def _start_report(request: Request, project: Project) -> Response:
    n_folds, n_repeats = EFFORTS[project.choices["effort"]]
    arguments = {
        "place": str(project.folder),
        "rows": request_of(project),
        "models": list(project.choices["models"]),
        "n_folds": n_folds,
        "n_repeats": n_repeats,
        "location": project.location,
    }
    before = project.find("report")
    job = project.request(get_pool(request), "report", arguments, again=True)
    if before is not None and before is not job:
        await get_pool(request).stop(before)
    return redirect(request, project, "report")


async def report(request: Request) -> Response:
    """Show the report, or the progress of the work on it."""
    project = get_project(request)
    job = report_of(project)
    if job is None:
        return redirect(request, project)
    if page := await wait_for(request, project, job, "report"):
        return page
    content = (job.folder / "report.html").read_text(encoding="utf-8")
    context: Mapping[str, Any] = {**frame(request, project, "report"), "job": job}
    return HTMLResponse(add_bar(content, render("report_bar.html", **context)))


async def save_report(request: Request) -> Response:
    """Send the report as a file: the page or its numbers."""
    project = get_project(request)
    job = report_of(project)
    name = request.path_params["name"]
    if job is None or not job.result or name not in ("report.html", "report.json"):
        return redirect(request, project, "report")
    return send_file(job, name, name)
