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
from calibrant._core.signals import begin_command
from calibrant.cli import calibrators, datasets, models, validation
from calibrant.cli.app import app as open_app
from calibrant.cli.arguments import PLAIN
from calibrant.cli.demo import demo
from calibrant.cli.export import export
from calibrant.cli.parsing import SeveralValues
from calibrant.cli.plan import plan
from calibrant.cli.report import report
from calibrant.cli.usage import OneLineUsage

app = typer.Typer(cls=OneLineUsage, **PLAIN)
app.command("app")(open_app)
app.command()(demo)
app.command(cls=SeveralValues)(report)
app.command(cls=SeveralValues)(models.fit)
app.command(cls=SeveralValues)(models.predict)
app.command(cls=SeveralValues)(calibrators.calibrate)
app.command(cls=SeveralValues)(calibrators.apply)
app.command(cls=SeveralValues)(validation.validate)
app.command(cls=SeveralValues)(validation.update)
app.command(cls=SeveralValues)(plan)
app.command(cls=SeveralValues)(export)
app.add_typer(datasets.app, name="datasets")


def _print_version(wanted: bool) -> None:
    if wanted:
        kernel = "compiled" if find_spec("calibrant._core._merging") else "python"
        print(f"calibrant {__version__} ({kernel} kernel)")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[  # noqa: ARG001  # its callback prints it
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Trustworthy class probabilities from small data sets."""
    begin_command()
