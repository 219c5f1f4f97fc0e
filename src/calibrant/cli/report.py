"""``calibrant report``: whether the probabilities of models of a data file can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calibrant.cli.arguments import (
    DEFAULT_JOBS,
    Categories,
    DataFile,
    Groups,
    Ignore,
    Jobs,
    Seed,
    Target,
    one_line_errors,
)


def report(
    data: DataFile,
    target: Target,
    groups: Groups = None,
    ignore: Ignore = None,
    categories: Categories = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Models to try: random-forest, naive-bayes, logistic, which are the default, "
            "svm, boosting or neighbors."
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="How often the folds are dealt.")] = 3,
    seed: Seed = 0,
    jobs: Jobs = DEFAULT_JOBS,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path(
        "report.html"
    ),
) -> None:
    """Say in one page whether probabilities can be trusted, before and after calibration."""
    from calibrant.report.build import DEFAULT_MODELS, report_on_file
    from calibrant.report.text import say_briefly

    with one_line_errors():
        findings = report_on_file(
            data,
            target,
            output,
            groups=groups,
            ignore=ignore or (),
            categories=categories or (),
            models=list(dict.fromkeys(model or DEFAULT_MODELS)),
            n_folds=folds,
            n_repeats=repeats,
            seed=seed,
            n_jobs=jobs,
        )
    print(say_briefly(findings))
    print(f"Open {output} in a browser.")
