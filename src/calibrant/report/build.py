"""Tables and files -> their reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from calibrant._core.files import check_writable
from calibrant._core.progress import track
from calibrant.classifier import CalibratedClassifier
from calibrant.report.evaluation import evaluate_models, evaluate_probabilities
from calibrant.report.page import Source, write_report
from calibrant.report.records import Findings
from calibrant.tabular import (
    MODELS,
    describe_table,
    labels_of,
    make_model,
    read_table,
    training_rows,
)
from calibrant.tabular.cells import as_text, is_missing
from calibrant.tabular.probabilities import ProbabilityCalibrator, class_scores

DEFAULT_MODELS = ("random-forest", "naive-bayes", "logistic")
N_FOLDS, N_REPEATS = 5, 3
# Their probabilities as they are exist in the report alone: a saved model needs the calibrated.
WITHOUT_PROBA = ("svm",)


def report_on_file(
    data: str,
    target: str,
    output: Path,
    *,
    groups: str | None = None,
    ignore: Sequence[str] = (),
    categories: Sequence[str] = (),
    models: Sequence[str] = DEFAULT_MODELS,
    n_folds: int = N_FOLDS,
    n_repeats: int = N_REPEATS,
    seed: int = 0,
    n_jobs: int = -1,
) -> Findings:
    """Evaluate models on a data file and write the report.

    Parameters
    ----------
    data : str
        The file, or "-" for standard input.
    target, output, groups, ignore, categories, models, n_folds, n_repeats, seed, n_jobs
        As for `report_on_table`.

    Returns
    -------
    Findings
        The numbers of the report.
    """
    given = [data, "--target", target]
    given += [] if groups is None else ["--groups", groups]
    given += [f"--ignore={name}" for name in ignore]  # a name may begin with a dash
    given += [f"--categories={name}" for name in categories]
    settings = [word for name in models for word in ("--model", name)]
    settings += ["--folds", str(n_folds), "--repeats", str(n_repeats), "--seed", str(seed)]
    check_writable(output)
    return report_on_table(
        read_table(data),
        target,
        output,
        title="standard input" if data == "-" else Path(data).name,
        command=["calibrant", "report", *given, *settings, "-o", str(output)],
        next_command=lambda place, calibrated: [
            *("calibrant", "fit", *given, "--model", models[place]),
            *(() if calibrated or models[place] in WITHOUT_PROBA else ("--method", "none")),
            *("--seed", str(seed), "-o", "model.skops"),
        ],
        groups=groups,
        ignore=ignore,
        categories=categories,
        models=models,
        n_folds=n_folds,
        n_repeats=n_repeats,
        seed=seed,
        n_jobs=n_jobs,
    )


def report_on_table(
    table: pd.DataFrame,
    target: str,
    output: Path,
    *,
    title: str,
    command: Sequence[str],
    next_command: Callable[[int, bool], Sequence[str]] | None = None,
    groups: str | None = None,
    ignore: Sequence[str] = (),
    categories: Sequence[str] = (),
    models: Sequence[str] = DEFAULT_MODELS,
    n_folds: int = N_FOLDS,
    n_repeats: int = N_REPEATS,
    seed: int = 0,
    n_jobs: int = -1,
) -> Findings:
    """Evaluate models on a table and write the report.

    Parameters
    ----------
    table : DataFrame
        A table as `read_table` returns it.
    target : str
        The column to predict.
    output : Path
        The HTML file to write.
    title : str
        What to call the table.
    command : sequence of str
        What to type to make the report again.
    next_command : callable, default=None
        Returns what to type to get a model, given its number and whether it is calibrated.
    groups : str, default=None
        The column that says which rows belong together.
    ignore : sequence of str
        Columns not to use.
    categories : sequence of str
        Columns of numbers that stand for categories.
    models : sequence of str
        Names of `calibrant.tabular.MODELS`.
    n_folds, n_repeats : int
        Folds of the cross-validation, and how often they are dealt.
    seed : int, default=0
        Decides everything random.
    n_jobs : int, default=-1
        The number of parallel fits; -1 is one for each core.

    Returns
    -------
    Findings
        The numbers of the report.
    """
    schema = describe_table(table, target, groups=groups, ignore=ignore, categories=categories)
    own = {name: CalibratedClassifier(make_model(name, schema, seed)) for name in models}
    rows = training_rows(table, schema)
    evaluation = evaluate_models(
        rows.X,
        rows.y,
        {MODELS[name].title: model for name, model in own.items()},
        groups=rows.groups,
        n_folds=n_folds,
        n_repeats=n_repeats,
        random_state=seed,
        n_jobs=n_jobs,
        progress=partial(track, title="evaluating"),
    )
    source = Source(
        title=title,
        place=str(rows.X.index.name),
        rows=rows.X.index.tolist(),
        schema=schema,
        cells=_cells(table.loc[rows.X.index]),
        command=command,
        next_command=next_command,
    )
    return write_report(evaluation, output, source)


def report_on_probabilities(
    table: pd.DataFrame,
    fitted: ProbabilityCalibrator,
    output: Path,
    *,
    title: str,
    command: Sequence[str],
) -> Findings:
    """Write the report of probabilities from a model that lives elsewhere.

    Parameters
    ----------
    table : DataFrame
        The table that they come from.
    fitted : ProbabilityCalibrator
        A calibrator fitted to the table; copies of it are fitted to parts of the table.
    output : Path
        The HTML file to write.
    title : str
        What to call the table.
    command : sequence of str
        What to type to make the report again.

    Returns
    -------
    Findings
        The numbers of the report.
    """
    evaluation = evaluate_probabilities(
        class_scores(table, fitted.classes, logits=fitted.logits),
        labels_of(table, fitted.settings["target"]),
        fitted.classes,
        calibrator=fitted.calibrator,
        n_folds=N_FOLDS,
        n_repeats=N_REPEATS,
    )
    source = Source(
        title=title,
        place=str(table.index.name),
        rows=table.index.tolist(),
        cells=_cells(table),
        command=command,
    )
    return write_report(evaluation, output, source)


def _cells(table: pd.DataFrame) -> Callable[[int], list[tuple[str, str]]]:
    """Return names and texts of the cells of a row, by its place."""
    values = table.to_numpy(dtype=object)
    names = [str(name) for name in table.columns]

    def of_row(place: int) -> list[tuple[str, str]]:
        texts = ["" if is_missing(cell) else as_text(cell) for cell in values[place]]
        return list(zip(names, texts, strict=True))

    return of_row
