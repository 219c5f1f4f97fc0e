"""The first page: choose a file, or an example; and the end of the application."""

from __future__ import annotations

from urllib.parse import unquote

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from calibrant.app.pages.common import (
    PageError,
    address,
    get_pool,
    get_project,
    get_projects,
    redirect,
    show,
)
from calibrant.app.projects import Entrance, Project, locate
from calibrant.app.rendering import read_style
from calibrant.app.uploads import MOST_BYTES, UploadError, receive_file

FIRST_STEPS = {
    Entrance.table: "columns",
    Entrance.probabilities: "outcomes",
    Entrance.model: "use",
}
EXAMPLE = "waveform.csv"


async def start(request: Request) -> Response:
    """Show the ways to begin, and what was begun."""
    return show(
        request,
        "start.html",
        most_megabytes=MOST_BYTES // 2**20,
        begun=get_projects(request).newest_first(),
    )


async def upload(request: Request) -> Response:
    """Take a file, and say where its project is."""
    entrance = request.path_params["entrance"]
    if entrance not in FIRST_STEPS:
        raise HTTPException(404)
    name = unquote(request.headers.get("x-file-name", "")) or "file"
    project = get_projects(request).create(Entrance(entrance), name)
    try:
        await receive_file(request, project.file)
    except UploadError as error:
        project.folder.rmdir()
        return JSONResponse({"error": str(error)}, 413)
    get_projects(request).add(project)
    return JSONResponse({"location": address(request, project, first_step(project))})


async def example(request: Request) -> Response:
    """Create a project on example data."""
    project = get_projects(request).create(Entrance.table, EXAMPLE)
    job = project.request(get_pool(request), "example", locate(project.file))
    await job.ended.wait()
    if job.error:
        raise PageError(job.error)
    get_projects(request).add(project)
    return redirect(request, project, first_step(project))


def first_step(project: Project) -> str:
    """Return the first step of a project."""
    return FIRST_STEPS[project.entrance]


async def open_project(request: Request) -> Response:
    """Send the browser to the last step of a project that was begun."""
    project = get_project(request)
    if "model" in project.choices:
        return redirect(request, project, "use")
    if project.find("report") is not None:
        return redirect(request, project, "report")
    return redirect(request, project, first_step(project))


async def confirm_leaving(request: Request) -> Response:
    """Ask whether to stop the application."""
    return show(request, "quit.html")


async def leave(request: Request) -> Response:
    """Stop the application; the last page cannot load its style any more."""
    page = show(request, "left.html", style=Markup(read_style()))
    page.background = request.app.state.leave
    return page
