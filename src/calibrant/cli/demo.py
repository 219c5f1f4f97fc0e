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
    from calibrant.report.demo import SCENARIOS, format_demo, report_demo, run_demo
    from calibrant.report.text import say_briefly

    with one_line_errors():
        check_writable(output)
        runs = list(track(run_demo(n_jobs=jobs), len(SCENARIOS), "fitting"))
        print(format_demo(runs))
        findings = report_demo(output, n_jobs=jobs)
    print(say_briefly(findings))
    print(f"Open {output} in a browser.")
