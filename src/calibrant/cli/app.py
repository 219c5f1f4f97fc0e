"""``calibrant app``: pages in the browser, from a file to an answer."""

from __future__ import annotations

from typing import Annotated

import typer

from calibrant.cli.arguments import Quiet
from calibrant.cli.messages import one_line_errors


def app(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="Data file or model file to start with."),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, metavar="INTEGER", help="Port to use.", show_default="a free one"
        ),
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the first page in a browser.")
    ] = True,
    quiet: Quiet = False,
) -> None:
    """Open calibrant in the browser: drop a table, get an answer.

    This computer serves the pages to its own browser, and nothing leaves it. To stop, press Ctrl-C
    or choose Quit on a page.
    """
    with one_line_errors():
        try:
            from calibrant.app import serve
        except ImportError as error:
            raise ImportError(
                f"calibrant app requires {error.name}, which is not installed. "
                "Run pip install 'calibrant[app]'."
            ) from None
        running = serve(file, port=port, open_browser=browser)
    try:
        if not quiet:
            print(f"calibrant is at {running.address}", flush=True)
            print("It can only be reached from this computer. Stop it with Ctrl-C.", flush=True)
        running.wait()
    except KeyboardInterrupt:
        pass
    finally:
        running.stop()
