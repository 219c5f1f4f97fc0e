"""``calibrant demo``: the main job on built-in data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    output: Annotated[Path, typer.Option(help="The reliability diagram to write.")] = Path(
        "demo.png"
    ),
    jobs: Annotated[int, typer.Option(help="The number of parallel fits.")] = 2,
) -> None:
    """Run the default and the paper's five scenarios on built-in data: a table and a picture."""
    from calibrant.bench.demo import DEMO_SCENARIOS, demo_table, draw_demo, run_demo
    from calibrant.bench.render import render
    from calibrant.progress import track

    if not output.parent.is_dir():
        raise typer.BadParameter(f"{output.parent} must be a folder that exists.")
    runs = list(track(run_demo(n_jobs=jobs), 2 * len(DEMO_SCENARIOS), "fitting"))
    print(render(demo_table(runs), "text"))
    for run in runs:
        if run.report is not None:
            print(f"{run.classifier}: {run.report}")
    draw_demo(runs, output)
    print(f"Reliability diagram: {output}")
