"""The data behind a report, and the commands shown on its page."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibrant._core.phrases import capitalize, join_phrases
from calibrant.report.faults import FAULTS_OF_ROWS, Fault, find_faults
from calibrant.report.records import Analysis
from calibrant.report.text import BETTER_COLUMNS, warn_of_guessing

if TYPE_CHECKING:
    import pandas as pd

    from calibrant.tabular import Schema

# Longer texts do not serve as names of rows.
LONGEST_NAME = 40
# What notes on these topics are about; all others are about columns.
SUBJECTS = {
    "classes": "classes",
    "spelling": "classes",
    "duplicates": "rows",
    "rows": "rows",
    "file": "how the file was read",
    "missing": "how the file was read",
    "numbers": "how the file was read",
}


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
    exception : str
        When the warnings do not apply, as a clause that begins with "if".
    """

    text: str = ""
    command: Sequence[str] = ()
    otherwise: Sequence[str] = ()
    exception: str = ""


def describe_step(step: NextStep) -> str:
    """Return a next step as a line of text."""
    words = [step.text] if step.text else []
    words += [shlex.join(step.command)] if step.command else []
    words += [f"({step.exception}: {shlex.join(step.otherwise)})"] if step.otherwise else []
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
        guessing = warn_of_guessing(analysis, self.target)
        if self.has_notice("leakage", "warning"):
            # A column that says more about the class has been found.
            guessing = guessing.removesuffix(f" {BETTER_COLUMNS}")
        return [*([guessing] if guessing else []), *self._notices("warning")]

    @property
    def notes(self) -> list[str]:
        """What else to know about the data."""
        return self._notices("note")

    @property
    def subjects(self) -> str:
        """What the notes are about."""
        notices = () if self.schema is None else self.schema.notices
        topics = [notice.topic for notice in notices if notice.severity == "note"]
        return join_phrases(list(dict.fromkeys(SUBJECTS.get(each, "columns") for each in topics)))

    def _notices(self, severity: str) -> list[str]:
        notices = () if self.schema is None else self.schema.notices
        return [notice.text for notice in notices if notice.severity == severity]

    def has_notice(self, topic: str, severity: str | None = None) -> bool:
        """Return whether there is a notice on a topic."""
        notices = () if self.schema is None else self.schema.notices
        return any(
            notice.topic == topic and severity in (None, notice.severity) for notice in notices
        )

    @property
    def target(self) -> str | None:
        """Name of the column of classes."""
        return None if self.schema is None else self.schema.target

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Faults of the data that endanger the answers, most important first."""
        return () if self.schema is None else find_faults(self.schema)

    def points(self, analysis: Analysis) -> list[str]:
        """Return the points of the warnings, as short clauses."""
        points = [each.point for each in self.faults]
        if analysis.beats_guessing:
            return points
        what = "probabilities" if self.schema is None else "columns"
        return [f"the {what} may say too little about the class", *points]

    def doubt(self, analysis: Analysis) -> str:
        """Say why nobody should rely on the answers yet; empty if there is no reason.

        The text consists of sentences, the first of which follows a colon.
        """
        reasons = []
        if not analysis.beats_guessing:
            reasons.append("the model is not clearly better than guessing.")
        if self.faults:
            reasons.append(f"first {join_phrases([each.remedy for each in self.faults])}.")
        return " ".join([*reasons[:1], *map(capitalize, reasons[1:])])

    def next_step(self, analysis: Analysis) -> NextStep:
        """Return what to do next: what the warnings advise, or else to fit the model."""
        fit = self._spell_fit(analysis) if analysis.beats_guessing else ()
        faults, repeat = self.faults, self.commands.repeat
        options = [option for each in faults for option in each.options]
        exception = f"if {join_phrases([each.exception for each in faults])}" if faults else ""
        in_file = [each.remedy for each in faults if each.topic in FAULTS_OF_ROWS]
        if repeat and (options or in_file):
            changes = [each.change for each in faults if each.change]
            again = f" {join_phrases(changes)}" if changes else ""
            start = "First, "
            if in_file:
                remedies = join_phrases(in_file)
                start += f"{remedies}, and save the cleaned table under the same name. Then "
            text = f"{start}create the report again{again}:"
            return NextStep(text, (*repeat, *options), fit, exception)
        if not analysis.beats_guessing:
            return NextStep(
                "Nothing yet: look for columns that say more about the class, or add rows."
            )
        if not fit:
            return NextStep()
        return NextStep(f"{capitalize(exception) or self.commands.purpose}:", fit)

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
