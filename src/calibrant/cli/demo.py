"""``calibrant demo``: calibration at work on built-in data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from calibrant.cli.arguments import DEFAULT_JOBS, Jobs, Json, Quiet, output_to
from calibrant.cli.messages import Messages, one_line_errors


def demo(
    output: Annotated[Path, output_to("HTML report to write.")] = Path("demo.html"),
    jobs: Jobs = DEFAULT_JOBS,
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Compare six ways to get probabilities on built-in data.

    Print a table that compares the paper's five scenarios with the default, and write the report
    that calibrant report writes for the same data.
    """
    from functools import partial

    from calibrant._core.progress import track
    from calibrant.cli.outputs import OutputKind, check_output
    from calibrant.report import Commands, report_to_dict
    from calibrant.report.cross_validation import EvaluationSettings
    from calibrant.report.demo import SCENARIOS, format_demo, report_demo, run_demo
    from calibrant.report.text import summarize

    messages = Messages(quiet, json)
    with one_line_errors():
        check_output(output, OutputKind.page)
        messages.check(outputs=[output])
        runs = run_demo(n_jobs=jobs)
        done = list(runs if quiet else track(runs, len(SCENARIOS), "fitting"))
        messages.say(format_demo(done))
        repeat = ["calibrant", "demo", "-o", str(output)]
        settings = EvaluationSettings(n_jobs=jobs)
        progress = None if quiet else partial(track, title="evaluating")
        analysis = report_demo(output, settings, Commands(repeat), progress)
    messages.finish(
        f"Open {output} in a browser.",
        {
            "scenarios": {run.scenario: run.metrics() for run in done},
            "report": report_to_dict(analysis),
            "output": str(output),
        },
        summary=(summarize(analysis),),
    )
