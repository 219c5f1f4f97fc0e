"""The command line: arguments in, calls out.

Commands import what they call when they run, so that help pages appear at once.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

try:
    import typer
except ImportError:
    raise SystemExit(
        "calibrant: The command line requires typer, which is not installed. "
        "Run pip install 'calibrant[cli,plots]'."
    ) from None

from calibrant import __version__
from calibrant.cli import calibrators, datasets, models
from calibrant.cli.arguments import PLAIN, SeveralValues
from calibrant.cli.demo import demo
from calibrant.cli.report import report

app = typer.Typer(**PLAIN)
app.command()(demo)
app.command(cls=SeveralValues)(report)
app.command(cls=SeveralValues)(models.fit)
app.command(cls=SeveralValues)(models.predict)
app.command()(calibrators.calibrate)
app.command(cls=SeveralValues)(calibrators.apply)
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
            "--version", help="Show the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Trustworthy class probabilities from small data sets."""
