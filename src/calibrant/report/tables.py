"""Reports on tables of features and on tables of class probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from calibrant._core.workers import Progress
from calibrant.classifier import CalibratedClassifier
from calibrant.report.cross_validation import EvaluationSettings, cross_validate_models
from calibrant.report.given import evaluate_probabilities
from calibrant.report.page import write_report
from calibrant.report.records import Analysis
from calibrant.report.source import Commands, Source
from calibrant.tabular import (
    MODELS,
    ProbabilityCalibrator,
    Schema,
    make_model,
    select_labels,
    select_training_rows,
)
from calibrant.tabular.costs import read_costs
from calibrant.tabular.subgroups import select_subgroups


def report_on_table(
    table: pd.DataFrame,
    schema: Schema,
    output: Path,
    *,
    title: str,
    models: Sequence[str],
    settings: EvaluationSettings | None = None,
    costs: str | None = None,
    commands: Commands | None = None,
    progress: Progress | None = None,
    by: Sequence[str] = (),
) -> Analysis:
    """Evaluate models on a table and write the report.

    Parameters
    ----------
    table : DataFrame
        A table as returned by `read_table`.
    schema : Schema
        Columns of the table, as returned by `describe_table`.
    output : Path
        HTML file to write.
    title : str
        Name of the table on the page.
    models : sequence of str
        Names of models, keys of `calibrant.tabular.MODELS`.
    settings : EvaluationSettings, default=None
        Settings of the cross-validation. ``None`` means the default settings.
    costs : str, default=None
        A file that `read_costs` reads. ``None`` means unknown costs.
    commands : Commands, default=None
        Commands that the page suggests. ``None`` means none.
    progress : callable, default=None
        Wraps the iterator of finished fits, as in `evaluate_models`.
    by : sequence of str, default=()
        Columns by which to report calibration, features or not.

    Returns
    -------
    Analysis
        The numbers of the report.
    """
    settings = EvaluationSettings() if settings is None else settings
    classifiers = {
        name: CalibratedClassifier(make_model(name, schema, settings.random_state))
        for name in models
    }
    rows = select_training_rows(table, schema)
    cost_table = None if costs is None else read_costs(costs, np.unique(rows.y).tolist())
    used = table.loc[rows.X.index]
    subgroups = select_subgroups(used, by, schema.target)
    evaluation = cross_validate_models(
        rows.X,
        rows.y,
        {MODELS[name].title: classifier for name, classifier in classifiers.items()},
        settings,
        groups=rows.groups,
        progress=progress,
    )
    source = Source(title, used, schema, commands or Commands())
    return write_report(replace(evaluation, subgroups=subgroups), output, source, cost_table)


def report_on_probabilities(
    table: pd.DataFrame,
    fitted: ProbabilityCalibrator,
    output: Path,
    *,
    title: str,
    commands: Commands | None = None,
) -> Analysis:
    """Write the report on given probabilities and their calibration.

    Parameters
    ----------
    table : DataFrame
        A table as returned by `read_table`, with the columns of the calibrator.
    fitted : ProbabilityCalibrator
        Calibrator of the table. Cross-validation fits clones of it.
    output : Path
        HTML file to write.
    title : str
        Name of the table on the page.
    commands : Commands, default=None
        Commands that the page suggests. ``None`` means none.

    Returns
    -------
    Analysis
        The numbers of the report.
    """
    evaluation = evaluate_probabilities(
        fitted.given.read(table).values,
        select_labels(table, fitted.settings["target"]),
        fitted.classes,
        calibrator=fitted.settings["method"],
    )
    return write_report(evaluation, output, Source(title, table, commands=commands or Commands()))
