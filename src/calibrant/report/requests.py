"""Reports that users ask for: a data file, models and settings -> a page and its commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from calibrant._core.registries import DEFAULT_MODELS
from calibrant._core.workers import Progress
from calibrant.report.cross_validation import EvaluationSettings
from calibrant.report.records import Analysis
from calibrant.report.source import Commands, Source
from calibrant.report.tables import report_on_table
from calibrant.tabular import ProbabilityCalibrator
from calibrant.tabular.reading import get_reading
from calibrant.tabular.requests import TableRequest
from calibrant.tabular.schema import Schema


class WrittenReport(NamedTuple):
    """What was found for a report, besides its page.

    Attributes
    ----------
    analysis : Analysis
        The numbers.
    source : Source
        The data behind them, without the rows.
    schema : Schema
        Description of the table.
    """

    analysis: Analysis
    source: Source
    schema: Schema


@dataclass(frozen=True)
class ReportRequest:
    """A report on a data file.

    Attributes
    ----------
    rows : TableRequest
        The data file.
    models : tuple of str
        Names of the models to compare, from `calibrant.tabular.MODELS`.
    settings : EvaluationSettings
        Settings of the cross-validation.
    by : tuple of str
        Columns by which to report calibration.
    data : str or None
        Name of the data file in commands. ``None`` means that of the request.
    costs : str or None
        A file that `read_costs` reads. ``None`` means unknown costs.
    """

    rows: TableRequest
    models: tuple[str, ...] = DEFAULT_MODELS
    settings: EvaluationSettings = field(default_factory=EvaluationSettings)
    by: tuple[str, ...] = ()
    data: str | None = None
    costs: str | None = None

    def spell_fit(self, index: int, calibrated: bool) -> list[str]:
        """Return the command that fits and saves a model, as in `Commands`."""
        method = [] if calibrated else ["--method", "none"]
        words = ["calibrant", "fit", *self.rows.spell(self.data), "--model", self.models[index]]
        return [*words, *method, *self._spell_changed("random_state"), "-o", "model.skops"]

    def spell(self, output: str) -> Commands:
        """Return the commands that the page suggests."""
        compared = () if self.models == DEFAULT_MODELS else self.models
        words = ["calibrant", "report", *self.rows.spell(self.data)]
        words += [f"--by={name}" for name in self.by]
        words += [word for name in compared for word in ("--model", name)]
        for setting in ("n_folds", "n_repeats", "random_state"):
            words += self._spell_changed(setting)
        words += [] if self.costs is None else [f"--costs={self.costs}"]
        return Commands([*words, "-o", output], self.spell_fit)

    def write(self, output: Path, progress: Progress | None = None) -> WrittenReport:
        """Read the file, evaluate the models and write the page.

        Parameters
        ----------
        output : Path
            HTML file to write.
        progress : callable, default=None
            Wraps the iterator of finished fits, as in `evaluate_models`.
        """
        table = self.rows.read()
        schema = self.rows.describe(table)
        commands = self.spell(str(output) if self.data is None else output.name)
        analysis = report_on_table(
            table,
            schema,
            output,
            title=self.rows.title,
            models=self.models,
            settings=self.settings,
            costs=self.costs,
            commands=commands,
            progress=progress,
            by=self.by,
        )
        source = Source(self.rows.title, schema=schema, commands=commands)
        return WrittenReport(analysis, source, schema)

    def _spell_changed(self, setting: str) -> list[str]:
        """Return the words of a setting, unless it has its default value."""
        value = getattr(self.settings, setting)
        return (
            [] if value == getattr(EvaluationSettings, setting) else [OPTIONS[setting], str(value)]
        )


# The options of the command line, by setting.
OPTIONS = {"n_folds": "--folds", "n_repeats": "--repeats", "random_state": "--seed"}


def spell_calibration(
    fitted: ProbabilityCalibrator, table: pd.DataFrame, data: str, output: str, report: str
) -> Commands:
    """Return the commands on the page about given probabilities.

    Parameters
    ----------
    fitted : ProbabilityCalibrator
        The calibrator of the probabilities.
    table : DataFrame
        The table that it was fitted to, as returned by `read_table`.
    data, output, report : str
        The files of the table, the calibrator and the page.
    """
    settings = fitted.settings
    words = ["calibrant", "calibrate", data, "--target", settings["target"]]
    # With an equals sign, a name may begin with a dash.
    words += [
        f"--columns={column}={name}"
        for name, column in zip(fitted.classes, fitted.given.columns, strict=True)
        if column not in (None, name)
    ]
    words += [f"--positive={fitted.given.positive}"] if fitted.given.is_single else []
    words += ["--logits"] if fitted.logits else []
    words += ["--method", settings["method"], "-o", output, "--report", report]
    use = ["calibrant", "apply", output, "NEW.csv", "-o", "calibrated.csv"]
    return Commands(
        [*words, *get_reading(table).options],
        lambda _, calibrated: use if calibrated else [],
        purpose="To calibrate the probabilities of new rows",
    )
