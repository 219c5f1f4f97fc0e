"""The command line: arguments in, calls out. Imports of the work are inside commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Class probabilities that can be trusted, from few rows.",
    no_args_is_help=True,
    rich_markup_mode=None,  # errors as one plain line
    pretty_exceptions_enable=False,
)


@app.callback()
def main() -> None:
    """Class probabilities that can be trusted, from few rows."""


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="The reliability diagram to write.")] = Path(
        "demo.png"
    ),
    jobs: Annotated[int, typer.Option(help="The number of parallel fits.")] = 2,
) -> None:
    """Run the paper's five scenarios on built-in data: a table and a picture."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table

    from calibrant.bench.demo import N_TEST, N_TRAIN, draw_demo, run_demo
    from calibrant.bench.scenarios import SCENARIOS

    if not output.parent.is_dir():
        raise typer.BadParameter(f"{output.parent} must be a folder that exists.")
    console = Console()
    runs = list(
        track(
            run_demo(n_jobs=jobs),
            total=2 * len(SCENARIOS),
            description="fitting",
            console=Console(stderr=True),
            transient=True,
        )
    )
    table = Table(
        title=f"Waveform data, {N_TRAIN} training rows, {N_TEST} test rows",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("classifier", no_wrap=True)
    table.add_column("scenario", no_wrap=True)
    for column in [*runs[0].metrics(), "seconds"]:
        table.add_column(column, justify="right")
    for run in runs:
        values = [f"{value:.3f}" for value in run.metrics().values()]
        table.add_row(run.classifier, run.scenario.title, *values, f"{run.seconds:.2f}")
    console.print(table)
    draw_demo(runs, output)
    console.print(f"Lower is better. Reliability diagram: {output}")


if __name__ == "__main__":
    app()
