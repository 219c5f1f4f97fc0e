"""``calibrant demo``: calibration at work on built-in data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from calibrant.cli.arguments import DEFAULT_JOBS, Jobs, output_to
from calibrant.cli.messages import one_line_errors


def demo(
    output: Annotated[Path, output_to("HTML report to write.")] = Path("demo.html"),
    jobs: Jobs = DEFAULT_JOBS,
) -> None:
    """Compare six ways to get probabilities on built-in data.

    Print a table that compares the paper's five scenarios with the default, and write the report
    that calibrant report writes for the same data.
    """
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
