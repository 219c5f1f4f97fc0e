"""The command line: arguments in, calls out. Imports of the work are inside commands."""

from __future__ import annotations

try:
    import typer
except ImportError:
    raise SystemExit(
        "calibrant: the command line needs pip install 'calibrant[cli,plots]'"
    ) from None

from calibrant.cli import bench, datasets
from calibrant.cli.arguments import PLAIN
from calibrant.cli.demo import demo

app = typer.Typer(help="Class probabilities that can be trusted, from few rows.", **PLAIN)
app.command()(demo)
app.add_typer(bench.app, name="bench")
app.add_typer(datasets.app, name="datasets")
