"""Predictions of saved models for new data, which ``predict`` and ``apply`` write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from calibrant.cli.arguments import ALL_DIGITS, ESTIMATE
from calibrant.cli.messages import Messages, one_line_errors, warnings_as_notes
from calibrant.cli.model_files import check_order

if TYPE_CHECKING:
    from calibrant.tabular.saved_model import SavedModel


@dataclass(frozen=True)
class PredictionRequest:
    """What ``predict`` and ``apply`` are asked for.

    Attributes
    ----------
    model : Path
        The file of the model.
    data : str
        The data file, or "-" for standard input.
    sheet : str or None
        The sheet of an Excel workbook, as in `read_table`.
    missing : sequence of str
        Values to read as missing, as in `read_table`.
    keep : list of str or None
        Columns of the data file to copy.
    costs : str or None
        The file of the cost table. ``None`` means no decisions.
    prevalence : list of str or None
        Class shares, as in `adjust_to_prevalence`, or "estimate". ``None`` means no adjustment.
    digits : str
        Digits after the decimal point, or "all".
    output : str
        The file to write, or "-" for standard output.
    with_intervals : bool
        Whether to write an interval for each probability.
    with_sets : bool
        Whether to write which classes cannot be excluded.
    """

    model: Path
    data: str
    sheet: str | None
    missing: Sequence[str]
    keep: list[str] | None
    costs: str | None
    prevalence: list[str] | None
    digits: str
    output: str
    with_intervals: bool = False
    with_sets: bool = False


def write_predictions(
    kind: type[SavedModel], request: PredictionRequest, messages: Messages
) -> None:
    """Write the probabilities that a saved model predicts for a data file.

    Parameters
    ----------
    kind : type
        The class of the saved model.
    request : PredictionRequest
        What to predict, and where to write it.
    messages : Messages
        What to print.
    """
    from calibrant._core.phrases import count
    from calibrant.cli.outputs import OutputKind, check_output
    from calibrant.tabular.columns import find_columns
    from calibrant.tabular.costs import read_costs
    from calibrant.tabular.kept_columns import keep_columns
    from calibrant.tabular.predictions import tabulate_predictions
    from calibrant.tabular.prevalence import adjust_to_prevalence
    from calibrant.tabular.table_rows import open_rows
    from calibrant.tabular.writers import check_table_output, is_workbook, open_table

    with one_line_errors(), warnings_as_notes(messages.note):
        check_order(request.model, request.data)
        inputs: list[str | Path | None] = [request.model, request.data, request.costs]
        check_output(request.output, OutputKind.table, inputs=inputs)
        check_table_output(request.output)
        if request.output == messages.json == "-":
            raise ValueError(
                "Only one of the table and the JSON can go to standard output, got both. Name a "
                "file for the table with --output."
            )
        messages.check(inputs=inputs, outputs=[request.output])
        if request.prevalence is not None and (request.with_intervals or request.with_sets):
            raise ValueError(
                "--intervals and --sets are for the class shares of the training data, got "
                "--prevalence as well. Leave out --prevalence, or leave out the others."
            )
        model = _load(kind, request.model)
        costs = None if request.costs is None else read_costs(request.costs, model.output_columns)
        as_workbook = is_workbook(request.output)
        shares = None if request.prevalence == [ESTIMATE] else request.prevalence
        takes_all = as_workbook or request.prevalence == [ESTIMATE]
        rows = open_rows(
            request.data,
            expected=model.input_columns,
            sheet=request.sheet,
            missing=request.missing,
            size=None if takes_all else model.ROWS_AT_ONCE,
        )
        for notice in rows.notices:
            messages.note(notice.text)
        kept = find_columns(rows, request.keep or (), "keep")
        reader = model.read_inputs(rows)
        n_rows, adjustment = 0, None
        with open_table(request.output) as write:
            for table in rows:
                inputs = reader.read(table)
                proba = model.predict_inputs(inputs)
                if request.prevalence is not None:
                    adjustment = adjust_to_prevalence(
                        proba, model.output_columns, model.class_count, shares
                    )
                    proba = adjustment.proba
                columns = tabulate_predictions(
                    proba,
                    model.output_columns,
                    interval=model.predict_interval(inputs) if request.with_intervals else None,
                    possible=model.predict_set(inputs) if request.with_sets else None,
                    kept=keep_columns(table, kept, numbers=as_workbook),
                    costs=costs,
                    digits=None if request.digits == ALL_DIGITS else int(request.digits),
                )
                write(columns)
                n_rows += len(table)
            for text in reader.describe():
                messages.note(text)
        if adjustment is not None:
            messages.note(adjustment.note)
    place = "standard output" if request.output == "-" else request.output
    messages.finish(
        f"Wrote predictions for {count(n_rows, 'row')} to {place}.",
        {
            "model": str(request.model),
            "data": request.data,
            "output": request.output,
            "n_rows": n_rows,
            "classes": list(model.output_columns),
            "columns": list(columns),
            "costs": None if costs is None else costs.to_dict(),
            "prevalence": None if adjustment is None else adjustment.to_dict(),
        },
    )


def _load(kind: type[SavedModel], path: Path) -> SavedModel:
    """Load a model, or name the command that uses what the file holds."""
    from calibrant.tabular import ProbabilityCalibrator, TableModel
    from calibrant.tabular.saved_model import WrongKindError

    commands = {
        TableModel.KIND: "calibrant predict",
        ProbabilityCalibrator.KIND: "calibrant apply",
    }
    try:
        return kind.load(path)
    except WrongKindError as error:
        command = commands.get(error.found)
        remedy = f"Use it with {command}." if command else "Use it in Python, with calibrant.load."
        raise ValueError(f"{error} {remedy}") from None
