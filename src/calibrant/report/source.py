"""The data behind a report, and the commands shown on its page."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibrant.report.records import Analysis
from calibrant.report.text import BETTER_COLUMNS, warn_of_guessing

if TYPE_CHECKING:
    import pandas as pd

    from calibrant.tabular import Schema

# Longer texts do not serve as names of rows.
LONGEST_NAME = 40


@dataclass(frozen=True)
class Commands:
    """Commands that the page suggests, as spelled by the caller.

    Attributes
    ----------
    repeat : sequence of str
        Words of the command that recreates the report. Empty means that there is none.
    fit : callable or None
        Returns the words of the command to run next, which fits and saves a model, given the
        index of the model in the evaluation and whether to calibrate it. ``None`` means that
        there is none.
    purpose : str
        What that command does, as words before a colon.
    """

    repeat: Sequence[str] = ()
    fit: Callable[[int, bool], Sequence[str]] | None = None
    purpose: str = "To fit this model and save it"


@dataclass(frozen=True)
class NextStep:
    """What the page tells its reader to do next.

    Attributes
    ----------
    text : str
        What to do, or what the command is for. Empty if there is nothing to say.
    command : sequence of str
        Words of a command. Empty means that there is none.
    otherwise : sequence of str
        Words of the command to run instead if the warnings do not apply. Empty means that there
        is none.
    """

    text: str = ""
    command: Sequence[str] = ()
    otherwise: Sequence[str] = ()


def describe_step(step: NextStep) -> str:
    """Return a next step as a line of text."""
    words = [step.text] if step.text else []
    words += [shlex.join(step.command)] if step.command else []
    words += (
        [f"(if that does not apply to your data: {shlex.join(step.otherwise)})"]
        if step.otherwise
        else []
    )
    return " ".join(words)


@dataclass(frozen=True, eq=False)
class Source:
    """The data behind a report.

    Attributes
    ----------
    title : str
        Name of the data, such as a file name.
    table : DataFrame or None
        The rows of the evaluation. Its index numbers them, and the name of the index says
        what it counts, such as "row" or "line". ``None`` means rows numbered from 1.
    schema : Schema or None
        Columns of the table. ``None`` means that the probabilities were given.
    commands : Commands
        Commands that the page suggests.
    """

    title: str = "your data"
    table: pd.DataFrame | None = None
    schema: Schema | None = None
    commands: Commands = Commands()

    def row_labels(self, n_rows: int) -> list[str]:
        """Return what the reader knows the rows by: line 5, or id 17 (line 5)."""
        if self.table is None:
            return [f"row {number}" for number in range(1, n_rows + 1)]
        word = str(self.table.index.name or "row")
        places = [f"{word} {number}" for number in self.table.index]
        name = self._find_id_column()
        if name is None:
            return places
        from calibrant.tabular.columns import to_texts  # requires pandas

        ids = to_texts(self.table[name]).tolist()
        return [f"{name} {each} ({place})" for each, place in zip(ids, places, strict=True)]

    def _find_id_column(self) -> str | None:
        """Return a column that is not a feature and has a different short value in every row."""
        if self.table is None or self.schema is None:
            return None
        from calibrant.tabular.cells import as_text, is_missing  # requires pandas

        for name in (column.name for column in self.schema.columns if column.reason):
            cells = self.table[name].tolist()
            if any(map(is_missing, cells)):
                continue
            texts = list(map(as_text, cells))
            is_counter = texts == [str(number) for number in range(1, len(texts) + 1)]
            longest = max(map(len, texts))
            if len(set(texts)) == len(texts) and longest <= LONGEST_NAME and not is_counter:
                return name
        return None

    def warnings(self, analysis: Analysis) -> list[str]:
        """Return what endangers the answers of a report, most important first."""
        target = None if self.schema is None else self.schema.target
        guessing = warn_of_guessing(analysis, target)
        if self.has_notice("leakage", "warning"):
            # A column that says more about the class has been found.
            guessing = guessing.removesuffix(f" {BETTER_COLUMNS}")
        return [*([guessing] if guessing else []), *self._notices("warning")]

    @property
    def notes(self) -> list[str]:
        """What else to know about the data."""
        return self._notices("note")

    def _notices(self, severity: str) -> list[str]:
        notices = () if self.schema is None else self.schema.notices
        return [notice.text for notice in notices if notice.severity == severity]

    def has_notice(self, topic: str, severity: str | None = None) -> bool:
        """Return whether there is a notice on a topic."""
        notices = () if self.schema is None else self.schema.notices
        return any(
            notice.topic == topic and severity in (None, notice.severity) for notice in notices
        )

    def doubt(self, analysis: Analysis) -> str:
        """Say why nobody should rely on the answers, as a clause; empty if there is no reason."""
        if self.has_notice("leakage", "warning"):
            return (
                "do not rely on this answer before you know whether a column gives the class away."
            )
        if self.has_notice("groups", "warning") or self.has_notice("duplicates", "warning"):
            return (
                "do not rely on this answer, because models may have been tested on rows related "
                "to those that they were trained on."
            )
        if warn_of_guessing(analysis):
            return "do not rely on this model, which is not clearly better than guessing."
        return ""

    def next_step(self, analysis: Analysis) -> NextStep:
        """Return what to do next: what the warnings advise, or else to fit the model."""
        is_useless = bool(warn_of_guessing(analysis))
        fit = () if is_useless else self._spell_fit(analysis)
        repeat = self.commands.repeat
        options = self._find_options()
        if options and repeat:
            text = "First, create the report again as advised above:"
            return NextStep(text, (*repeat, *options), fit)
        if self.has_notice("duplicates", "warning") and repeat:
            text = "First, remove the rows that were recorded twice, and create the report again:"
            return NextStep(text, repeat, fit)
        if is_useless:
            return NextStep(
                "Nothing yet: look for columns that say more about the class, or add rows."
            )
        return NextStep(f"{self.commands.purpose}:", fit) if fit else NextStep()

    def _find_options(self) -> list[str]:
        """Return the options that the warnings advise, with at most one column of groups."""
        if self.schema is None:
            return []
        advised = [notice.option for notice in self.schema.notices if notice.option]
        groups = [option for option in advised if option.startswith("--groups=")]
        ignored = [option for option in advised if option.startswith("--ignore=")]
        rest = [option for option in advised if option not in (*groups, *ignored)]
        n_left = len(self.schema.features) - len(ignored)
        # Some column must remain to predict the class from.
        return [*(ignored if n_left > 0 else []), *groups[:1], *rest]

    def _spell_fit(self, analysis: Analysis) -> Sequence[str]:
        """Return the command that fits and saves the recommended model; empty if there is none."""
        if self.commands.fit is None:
            return ()
        best = analysis.best
        # A model without predict_proba can be saved only together with its calibration.
        has_proba = analysis.evaluation.models[best.model].has_proba
        return self.commands.fit(best.model, best.calibrated or not has_proba)

    def cells(self, row: int) -> list[tuple[str, str]]:
        """Return the column names and cells of a row, as text."""
        if self.table is None:
            return []
        from calibrant.tabular.cells import as_text, is_missing  # requires pandas

        names = [str(name) for name in self.table.columns]
        values = self.table.iloc[[row]].to_numpy(dtype=object)[0]
        texts = ["" if is_missing(value) else as_text(value) for value in values]
        return list(zip(names, texts, strict=True))
