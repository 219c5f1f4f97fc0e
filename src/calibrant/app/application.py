"""The application: addresses -> pages, and what happens when something goes wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from calibrant.app.jobs import Pool
from calibrant.app.pages import models, outcomes, start, tables, work
from calibrant.app.pages.common import GONE, PageError, show
from calibrant.app.projects import Projects
from calibrant.app.rendering import read_asset, read_style
from calibrant.app.security import Guard

GET, POST, PUT = ["GET"], ["POST"], ["PUT"]
NO_PAGE = "There is no such page. Go to the start page."
UNEXPECTED = (
    "Something went wrong inside calibrant. The terminal in which it runs shows the details. "
    "Please report them, go back and try again."
)


async def _style(request: Request) -> Response:  # noqa: ARG001
    return PlainTextResponse(read_style(), media_type="text/css")


async def _script(request: Request) -> Response:  # noqa: ARG001
    return PlainTextResponse(read_asset("app", "app.js"), media_type="text/javascript")


ROUTES = [
    Route("/", start.start, methods=GET),
    Route("/static/style.css", _style, methods=GET),
    Route("/static/app.js", _script, methods=GET),
    Route("/upload/{entrance}", start.upload, methods=PUT),
    Route("/example", start.example, methods=POST),
    Route("/quit", start.confirm_leaving, methods=GET),
    Route("/quit", start.leave, methods=POST),
    Route("/p/{project}", start.open_project, methods=GET),
    Route("/p/{project}/columns", tables.columns, methods=GET),
    Route("/p/{project}/columns", tables.choose_columns, methods=POST),
    Route("/p/{project}/target", tables.target, methods=GET),
    Route("/p/{project}/target", tables.choose_target, methods=POST),
    Route("/p/{project}/check", tables.check, methods=GET),
    Route("/p/{project}/check", tables.follow_advice, methods=POST),
    Route("/p/{project}/report", tables.report, methods=GET),
    Route("/p/{project}/report", tables.start_report, methods=POST),
    Route("/p/{project}/report/{name}", tables.save_report, methods=GET),
    Route("/p/{project}/model", models.choose_model, methods=GET),
    Route("/p/{project}/model", models.start_fit, methods=POST),
    Route("/p/{project}/use", models.use, methods=GET),
    Route("/p/{project}/model.skops", models.save_model, methods=GET),
    Route("/p/{project}/costs", models.choose_costs, methods=POST),
    Route("/p/{project}/rows", models.add_rows, methods=PUT),
    Route("/p/{project}/predictions/{job}", models.predictions, methods=GET),
    Route("/p/{project}/predictions/{job}/{kind}", models.save_predictions, methods=GET),
    Route("/p/{project}/case", models.ask_for_case, methods=GET),
    Route("/p/{project}/case", models.start_case, methods=POST),
    Route("/p/{project}/case/{job}", models.case, methods=GET),
    Route("/p/{project}/outcomes", outcomes.add_outcomes, methods=PUT),
    Route("/p/{project}/validation/{job}", outcomes.validation, methods=GET),
    Route("/p/{project}/validation/{job}", outcomes.start_update, methods=POST),
    Route("/p/{project}/validation/{job}/page", outcomes.save_validation, methods=GET),
    Route("/p/{project}/outcomes", outcomes.outcomes, methods=GET),
    Route("/p/{project}/outcomes", outcomes.choose_outcomes, methods=POST),
    Route("/p/{project}/jobs/{job}", work.progress, methods=GET),
    Route("/p/{project}/jobs/{job}/stop", work.stop, methods=POST),
    Route("/p/{project}/jobs/{job}/restart", work.restart, methods=POST),
]


def make_application(
    folder: Path, secret: str, port: int, leave: Callable[[], None]
) -> tuple[Guard, Projects]:
    """Return the guarded application, and its projects.

    Parameters
    ----------
    folder : Path
        The private folder.
    secret : str
        The first part of every address.
    port : int
        The port of the server.
    leave : callable
        Ends the server.
    """
    pool, projects = Pool(folder), Projects(folder)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001
        pool.open()
        yield
        await pool.close()

    app = Starlette(
        routes=ROUTES,
        lifespan=lifespan,
        exception_handlers={
            PageError: _show_page_error,
            HTTPException: _show_http_error,
            Exception: _show_unexpected,
        },
    )
    app.state.pool, app.state.projects = pool, projects
    app.state.leave = BackgroundTask(leave)
    return Guard(app, secret, port), projects


def _show_error(request: Request, text: str, status: int, back: str = "") -> Response:
    if request.method == "PUT":  # sent by the script
        return JSONResponse({"error": text}, status)
    projects: Projects = request.app.state.projects
    project = projects.get(request.path_params.get("project", ""))
    return show(request, "error.html", project, back, text=text, status=status)


async def _show_page_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, PageError)
    return _show_error(request, error.text, 400, error.back)


async def _show_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    text = GONE if error.detail == GONE else NO_PAGE
    return _show_error(request, text, error.status_code)


async def _show_unexpected(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return _show_error(request, UNEXPECTED, 500)
