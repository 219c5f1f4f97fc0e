"""Models: fit one, use it on new rows or on one case, and save it."""

from __future__ import annotations

import json
import math
from typing import Any
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from calibrant.app.filters import Filter, filter_rows
from calibrant.app.jobs import Job, State
from calibrant.app.pages.common import (
    PageError,
    address,
    get_pool,
    get_project,
    read_form,
    redirect,
    send_file,
    show,
    wait_for,
)
from calibrant.app.projects import Entrance, Project, locate
from calibrant.app.uploads import MOST_BYTES, UploadError, receive_file

# With more classes than this, costs are entered per true class.
MOST_COST_CLASSES = 8
SAVED_AS = {"model": "model.skops", "csv": "predictions.csv", "excel": "predictions.xlsx"}


async def choose_model(request: Request) -> Response:
    """Ask which model to fit."""
    project = get_project(request)
    job = project.find("report")
    if job is None or job.state is not State.done:
        return redirect(request, project, "report")
    preview = project.find("preview")
    titles = {} if preview is None else preview.result["models"]
    chosen = project.choices.get("fit", {})
    return show(
        request,
        "model.html",
        project,
        "model",
        found=job.result,
        titles={name: titles.get(name, name) for name in job.arguments["models"]},
        model=chosen.get("model", job.result["model"]),
        calibrated=chosen.get("calibrated", job.result["calibrated"]),
        target=job.arguments["rows"]["target"],
    )


async def start_fit(request: Request) -> Response:
    """Start to fit the model; the same choices never start it twice."""
    project = get_project(request)
    form = await read_form(request)
    report = project.find("report")
    if report is None:
        return redirect(request, project, "target")
    model = form.get("model", [""])[0]
    if model not in report.arguments["models"]:
        raise PageError("Choose a model.", "model")
    choice = {"model": model, "calibrated": form.get("calibrated", ["yes"])[0] == "yes"}
    project.choices["fit"] = choice
    arguments = {"place": str(project.folder), "rows": report.arguments["rows"], **choice}
    job = project.request(get_pool(request), "fit", arguments, again=True)
    project.choices["model"] = job.key
    return redirect(request, project, "use")


def model_job(request: Request, project: Project) -> Job | None:
    """Return the job that has the model of a project, if there is one."""
    job = project.jobs.get(project.choices.get("model", ""))
    if job is None and project.entrance is Entrance.model:
        arguments = locate(project.file)
        job = project.request(get_pool(request), "open", arguments)
        project.choices["model"] = job.key
    return job


async def use(request: Request) -> Response:
    """Show the model and what can be done with it."""
    project = get_project(request)
    job = model_job(request, project)
    if job is None:
        step = "model" if project.entrance is Entrance.table else "report"
        return redirect(request, project, step)
    if job.task == "update" and job.state in (State.failed, State.stopped):
        project.choices["model"] = project.choices["model before"]
    if page := await wait_for(request, project, job, "use"):
        return page
    classes = job.result["classes"]
    return show(
        request,
        "use.html",
        project,
        "use",
        model=job.result,
        values=project.choices.get("case", {}),
        costs=project.choices.get("costs"),
        by_decision=len(classes) <= MOST_COST_CLASSES,
        most_megabytes=MOST_BYTES // 2**20,
    )


async def save_model(request: Request) -> Response:
    """Send the model as a file."""
    project = get_project(request)
    job = model_job(request, project)
    if job is None or job.state is not State.done:
        return redirect(request, project, "use")
    if job.task == "open":
        return redirect(request, project, "use")
    return send_file(job, "model.skops", SAVED_AS["model"])


async def choose_costs(request: Request) -> Response:
    """Keep the costs of decisions, or forget them."""
    project = get_project(request)
    form = await read_form(request)
    job = model_job(request, project)
    if job is None or job.state is not State.done:
        return redirect(request, project, "use")
    n_classes = len(job.result["classes"])
    project.choices["costs"] = None if "forget" in form else _read_costs(form, n_classes)
    return redirect(request, project, "use")


def _read_costs(form: dict[str, list[str]], n_classes: int) -> list[list[float]]:
    """Return the cost of each decision for each true class."""

    def read(name: str) -> float:
        text = form.get(name, [""])[0].strip().replace(",", ".") or "0"
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < 0:
            raise PageError(
                f"A cost must be a number that is not negative, got {text!r}. Correct it.", "use"
            )
        return value

    by_decision = n_classes <= MOST_COST_CLASSES

    def find(truth: int, decided: int) -> float:
        if truth == decided:
            return 0.0
        return read(f"cost-{truth}-{decided}" if by_decision else f"cost-{truth}")

    return [[find(truth, decided) for decided in range(n_classes)] for truth in range(n_classes)]


async def add_rows(request: Request) -> Response:
    """Take a table of new rows, start to predict them, and say where the predictions are."""
    costs = get_project(request).choices.get("costs")
    return await start_on_table(request, "predict", "predictions", costs=costs)


async def start_on_table(request: Request, task: str, page: str, **arguments: Any) -> Response:
    """Take a table for the model of a project, start a task on it, and say where its page is."""
    project = get_project(request)
    job = model_job(request, project)
    if job is None or job.state is not State.done:
        return JSONResponse({"error": "There is no model yet. Fit one first."}, 409)
    file = project.add_file(unquote(request.headers.get("x-file-name", "")) or "table.csv")
    try:
        await receive_file(request, file)
    except UploadError as error:
        return JSONResponse({"error": str(error)}, 413)
    place = {"model": job.result["file"], "place": str(file.parent), "data": file.name}
    started = project.request(get_pool(request), task, {**place, **arguments})
    return JSONResponse({"location": address(request, project, page, started.key)})


def _predictions(request: Request, project: Project) -> Job:
    job = project.jobs.get(request.path_params["job"])
    if job is None or job.task != "predict":
        raise PageError("There are no such predictions. Choose the rows again.", "use")
    return job


async def predictions(request: Request) -> Response:
    """Show the predictions of new rows, filtered."""
    project = get_project(request)
    job = _predictions(request, project)
    if page := await wait_for(request, project, job, "use"):
        return page
    wanted = read_filter(request.query_params)
    content = await run_in_threadpool(
        lambda: json.loads((job.folder / "rows.json").read_text(encoding="utf-8"))
    )
    found = await run_in_threadpool(filter_rows, content, wanted)
    return show(
        request,
        "predictions.html",
        project,
        "use",
        job=job,
        title=job.arguments["data"],
        content=content,
        found=found,
        wanted=wanted,
    )


def read_filter(query: QueryParams) -> Filter:
    """Return the filter that the address of a page asks for."""
    try:
        least = min(max(float(query.get("least") or 0), 0.0), 100.0)
    except ValueError:
        least = 0.0
    return Filter(
        predicted=query.get("class", ""),
        least=least if math.isfinite(least) else 0.0,
        text=query.get("text", ""),
        order=query.get("order", ""),
    )


async def save_predictions(request: Request) -> Response:
    """Send predictions as a file."""
    project = get_project(request)
    job = _predictions(request, project)
    kind = request.path_params["kind"]
    if job.state is not State.done or kind not in ("csv", "excel"):
        return redirect(request, project, "predictions", job.key)
    return send_file(job, SAVED_AS[kind], SAVED_AS[kind])


async def ask_for_case(request: Request) -> Response:
    """Send the browser to the page with the form of a case."""
    return redirect(request, get_project(request), "use")


async def start_case(request: Request) -> Response:
    """Start to predict a case that was filled in by hand; its values are not in the address."""
    project = get_project(request)
    form = await read_form(request)
    made = model_job(request, project)
    if made is None or made.state is not State.done:
        return redirect(request, project, "use")
    fields: list[dict[str, Any]] = made.result["fields"]
    values = {
        field["name"]: text
        for position, field in enumerate(fields)
        if (text := form.get(f"f{position}", [""])[0].strip())
    }
    project.choices["case"] = values
    arguments = {
        "model": made.result["file"],
        "values": values,
        "costs": project.choices.get("costs"),
    }
    job = project.request(get_pool(request), "case", arguments)
    return redirect(request, project, "case", job.key)


async def case(request: Request) -> Response:
    """Show the prediction of a case."""
    project = get_project(request)
    made = model_job(request, project)
    job = project.jobs.get(request.path_params["job"])
    if made is None or job is None or job.task != "case":
        raise PageError("There is no such case. Fill it in again.", "use")
    if page := await wait_for(request, project, job, "use"):
        return page
    return show(
        request,
        "case.html",
        project,
        "use",
        classes=made.result["classes"],
        found=job.result,
        values=job.arguments["values"],
        has_costs=job.arguments["costs"] is not None,
    )
