"""The command line: arguments in, calls out. Imports of the work are inside commands."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

try:
    import typer
except ImportError:
    raise SystemExit(
        "calibrant: the command line needs pip install 'calibrant[cli,plots]'"
    ) from None

from calibrant import __version__
from calibrant.cli import datasets, models
from calibrant.cli.arguments import PLAIN, SeveralValues
from calibrant.cli.demo import demo
from calibrant.cli.report import report

app = typer.Typer(**PLAIN)
app.command()(demo)
app.command(cls=SeveralValues)(report)
app.command(cls=SeveralValues)(models.fit)
app.command(cls=SeveralValues)(models.predict)
app.command()(models.calibrate)
app.command(cls=SeveralValues)(models.apply)
app.add_typer(datasets.app, name="datasets")


def _print_version(wanted: bool) -> None:
    if wanted:
        kernel = "compiled" if find_spec("calibrant._core._merging") else "python"
        print(f"calibrant {__version__} ({kernel} kernel)")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Class probabilities that can be trusted, from few rows."""
