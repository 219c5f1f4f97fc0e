"""``calibrant demo``: the main job on built-in data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calibrant.cli.arguments import DEFAULT_JOBS, Jobs, one_line_errors


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path(
        "demo.html"
    ),
    jobs: Jobs = DEFAULT_JOBS,
) -> None:
    """Run the default and the paper's five scenarios on built-in data: a table and a page."""
    from calibrant._core.files import check_writable
    from calibrant._core.progress import track
    from calibrant.report import Commands
    from calibrant.report.cross_validation import EvaluationSettings
    from calibrant.report.demo import SCENARIOS, format_demo, report_demo, run_demo
    from calibrant.report.text import summarize

    with one_line_errors():
        check_writable(output)
        runs = list(track(run_demo(n_jobs=jobs), len(SCENARIOS), "fitting"))
        print(format_demo(runs))
        repeat = ["calibrant", "demo", "-o", str(output)]
        analysis = report_demo(output, EvaluationSettings(n_jobs=jobs), Commands(repeat))
    print(summarize(analysis))
    print(f"Open {output} in a browser.")
