"""``calibrant validate`` and ``calibrant update``: saved models on new labeled rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from calibrant.cli.arguments import (
    By,
    Groups,
    Json,
    Missing,
    NewData,
    Quiet,
    RuleCosts,
    Sheet,
    data_file,
    output_to,
)
from calibrant.cli.completion import complete_assignments, complete_columns
from calibrant.cli.messages import Messages, one_line_errors, warnings_as_notes
from calibrant.cli.model_files import check_order

if TYPE_CHECKING:
    from calibrant.report import Verdict
    from calibrant.validation.tables import Subject

# Exit codes of ``validate``. A crash and a closed pipe have 1, and errors in the input have 2, so
# that neither is taken for a finding.
RIGHT, UNCLEAR, WRONG = 0, 3, 4

ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="Model file written by calibrant fit, calibrate or update."
    ),
]
KnownTarget = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with the true classes. By default, the one that the model was fitted with.",
        autocompletion=complete_columns,
    ),
]


def validate(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="Model file written by calibrant fit, calibrate or update; or, without NEW, a "
            "data file with the true classes and one column of probabilities per class.",
        ),
    ],
    data: Annotated[str | None, data_file("NEW")] = None,
    target: KnownTarget = None,
    groups: Groups = None,
    by: By = None,
    sheet: Sheet = None,
    missing: Missing = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=CLASS",
            help="Columns of probabilities that are not named after their class, as in "
            "score=malignant.",
            autocompletion=complete_assignments,
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="With two classes, the class of a single column of probabilities.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A second model, or a data file with its probabilities for the same rows, to "
            "compare with the first.",
        ),
    ] = None,
    costs: RuleCosts = None,
    output: Annotated[Path, output_to("HTML page to write.")] = Path("validation.html"),
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Check whether probabilities are still right on new rows.

    The classes of the rows must be known. Write a page that says whether the probabilities are
    right, whether they have changed since training, and whether it is the model or the mix of
    classes that has changed. The exit code is 0 if the probabilities are right or nearly right, 2
    after an error, 3 if there are too few rows to tell, and 4 if the probabilities are not right.
    With --against, it is that of the first model.
    """
    from calibrant.cli.outputs import OutputKind, check_output
    from calibrant.tabular.reading import get_reading
    from calibrant.validation.methods import describe_methods
    from calibrant.validation.page import write_validation
    from calibrant.validation.tables import validate_subjects
    from calibrant.validation.text import answer_advice, summarize

    messages = Messages(quiet, json)
    with one_line_errors(), warnings_as_notes(messages.note):
        check_order(model, data)
        inputs = [model, data, against, costs]
        check_output(output, OutputKind.page, inputs=inputs)
        messages.check(inputs=inputs, outputs=[output])
        subjects = _read_subjects(model, data, against, sheet, missing or ())
        subjects = [replace(each, columns=columns or (), positive=positive) for each in subjects]
        found = validate_subjects(subjects, target, groups, costs=costs, by=by or ())
        tables = [each.table for each in subjects]
        read = [notice.text for table in tables for notice in get_reading(table).notices]
        for text in dict.fromkeys([*read, *found.notices]):
            messages.note(text)
        first = subjects[0].model
        history = [] if first is None else [entry.reason for entry in first.history]
        words = [model, *([] if data is None else [data]), "--target", found.target]
        # With an equals sign, a value may begin with a dash.
        words += [] if sheet is None else [f"--sheet={sheet}"]
        words += [f"--missing={value}" for value in missing or ()]
        grouped = [] if groups is None else [f"--groups={groups}"]
        given = [f"--columns={value}" for value in columns or ()]
        given += [] if positive is None else [f"--positive={positive}"]
        compared = [f"--by={name}" for name in by or ()]
        compared += [] if against is None else [f"--against={against}"]
        compared += [] if costs is None else [f"--costs={costs}"]
        write_validation(
            found.result,
            output,
            title="standard input" if "-" in (data, model) else Path(data or model).name,
            notices=found.notices,
            history=history,
            # Probabilities alone cannot be updated, and calibrate takes no groups.
            update_command=["calibrant", "calibrate", *words, *given, "-o", "calibrator.skops"]
            if first is None
            else ["calibrant", "update", *words, *grouped, "-o", "updated.skops"],
            repeat_command=[
                *("calibrant", "validate", *words, *grouped, *given, *compared),
                *("-o", str(output)),
            ],
        )
    validation = found.result.models[0]
    messages.finish(
        f"Open {output} in a browser.",
        {
            **found.result.to_dict(),
            "methods": describe_methods(found.result, history).to_dict(),
            "output": str(output),
        },
        summary=(summarize(found.result), f"What should I do? {answer_advice(validation)}"),
    )
    raise typer.Exit(_exit_code(validation.verdict))


def update(
    model: ModelFile,
    data: NewData,
    target: KnownTarget = None,
    groups: Groups = None,
    sheet: Sheet = None,
    missing: Missing = None,
    output: Annotated[Path, output_to("Model file to write.")] = Path("updated.skops"),
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Update the probabilities of a saved model on new rows.

    The classes of the rows must be known, and the model must not have been fitted on them. A
    closed testing procedure chooses the smallest update that the rows do not contradict: none, a
    correction for class frequencies, a correction for class frequencies and confidence, or full
    recalibration. The model itself is not refitted.
    """
    from calibrant.cli.outputs import OutputKind, check_output
    from calibrant.tabular import read_table
    from calibrant.tabular.loading import load_model
    from calibrant.tabular.reading import get_reading
    from calibrant.validation.tables import find_target, select_new_rows

    messages = Messages(quiet, json)
    with one_line_errors(), warnings_as_notes(messages.note):
        check_order(model, data)
        check_output(output, OutputKind.model, inputs=[model, data])
        messages.check(inputs=[model, data], outputs=[output])
        fitted = load_model(model)
        table = read_table(data, expected=fitted.input_columns, sheet=sheet, missing=missing or ())
        column = find_target(fitted, target)
        rows = select_new_rows(table, fitted.output_columns, column, fitted, groups)
        read = [notice.text for notice in get_reading(table).notices]
        for text in (*read, *rows.notices, *fitted.find_notices(rows.table)):
            messages.note(text)
        updated, report = fitted.update(rows.table, rows.y, rows.groups)
        updated.save(output)
    messages.finish(
        f"Saved to {output}.",
        {
            **report.to_dict(),
            "history": [entry.to_dict() for entry in updated.history],
            "output": str(output),
        },
        summary=(str(report),),
    )


def _read_subjects(
    model: str, data: str | None, against: str | None, sheet: str | None, missing: Sequence[str]
) -> list[Subject]:
    """Load the models and read the tables."""
    from calibrant.persistence.model_file import is_model_file
    from calibrant.tabular import read_table
    from calibrant.tabular.loading import load_model
    from calibrant.tabular.readers import is_workbook
    from calibrant.validation.tables import Subject

    if data is None:
        if is_model_file(model):
            raise ValueError(
                f"A model must be validated on new rows. {model} is a model, and no data file was "
                "given. Add one after the model."
            )
        subjects = [Subject(Path(model).name, read_table(model, sheet=sheet, missing=missing))]
    else:
        fitted = load_model(model)
        table = read_table(data, expected=fitted.input_columns, sheet=sheet, missing=missing)
        subjects = [Subject(Path(model).name, table, fitted)]
    if against is not None:
        if all(map(os.path.exists, (model, against))) and os.path.samefile(model, against):
            raise ValueError(
                f"--against must name a model other than the first, but {against} and {model} are "
                "the same file. Name the other model, or omit --against."
            )
        if not is_model_file(against):
            # The sheet is that of every workbook; a file of another kind has none.
            of_second = sheet if is_workbook(against) else None
            table = read_table(against, sheet=of_second, missing=missing)
            return [*subjects, Subject(Path(against).name, table)]
        if data is None:
            raise ValueError(
                "A model must be validated on new rows, but the first file holds probabilities. "
                f"Give {against} and a data file first, and {model} after --against."
            )
        subjects.append(Subject(Path(against).name, subjects[0].table, load_model(against)))
    return subjects


def _exit_code(verdict: Verdict) -> int:
    from calibrant.report import Verdict

    return {Verdict.MISCALIBRATED: WRONG, Verdict.UNCLEAR: UNCLEAR}.get(verdict, RIGHT)
