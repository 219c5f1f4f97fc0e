"""Tasks with outcomes: validate and update a model, or calibrate given probabilities."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from calibrant._core.files import write_atomically
from calibrant.app.reporting import Reporter
from calibrant.app.tasks.models import read_model, save_model
from calibrant.app.tasks.tables import NUMBERS, REPORT
from calibrant.report.export import report_to_dict
from calibrant.report.requests import spell_calibration
from calibrant.report.source import Source
from calibrant.report.tables import report_on_probabilities
from calibrant.tabular import fit_probabilities, read_table, select_labels
from calibrant.tabular.class_columns import find_probability_columns
from calibrant.tabular.columns import describe_column, find_column
from calibrant.tabular.reading import get_reading
from calibrant.tabular.schema import Kind
from calibrant.validation.page import write_validation
from calibrant.validation.tables import Subject, select_new_rows, validate_subjects
from calibrant.validation.text import answer_advice, summarize

VALIDATION = "validation.html"


def validate(folder: Path, arguments: Mapping[str, Any], reporter: Reporter) -> dict[str, Any]:
    """Say whether the probabilities of a model are right on rows with outcomes."""
    reporter.say("Comparing the probabilities with the outcomes")
    model = read_model(arguments["model"])
    table = read_table(arguments["data"], expected=model.input_columns)
    title = Path(arguments["data"]).name
    found = validate_subjects([Subject(arguments["title"], table, model)], arguments["target"])
    words = ["model.skops", title, "--target", found.target]
    command = ["calibrant", "validate", *words, "-o", VALIDATION]
    read = [notice.text for notice in get_reading(table).notices]
    write_validation(
        found.result,
        folder / VALIDATION,
        title=title,
        notices=(*read, *found.notices),
        history=[entry.reason for entry in model.history],
        repeat_command=command,
    )
    validation = found.result.models[0]
    return {
        "summary": summarize(found.result),
        "advice": answer_advice(validation),
        "calls_for_update": validation.calls_for_update,
        "command": shlex.join(command),
    }


def update(folder: Path, arguments: Mapping[str, Any], reporter: Reporter) -> dict[str, Any]:
    """Update a model on rows with outcomes, as far as these require it."""
    reporter.say("Updating the model")
    model = read_model(arguments["model"])
    table = read_table(arguments["data"], expected=model.input_columns)
    target = arguments["target"] or model.target
    rows = select_new_rows(table, model.output_columns, target, model)
    updated, _ = model.update(rows.table, rows.y, rows.groups)
    return save_model(updated, folder)


def assign(folder: Path, arguments: Mapping[str, Any], reporter: Reporter) -> dict[str, Any]:  # noqa: ARG001
    """Find the column with the probabilities of each class."""
    reporter.say("Looking for the probabilities")
    table, target = _read_given(arguments)
    labels = select_labels(table, target)
    numeric = [
        str(name)
        for name in table.columns
        if str(name) != target and describe_column(table[name]).kind is Kind.number
    ]
    result = {"classes": sorted(set(labels.tolist())), "numeric": numeric, "target": target}
    try:
        given = find_probability_columns(table, target, labels)
    except ValueError as error:
        return {**result, "columns": {}, "problem": str(error)}
    columns = dict(zip(given.classes, given.columns, strict=True))
    return {**result, "classes": list(given.classes), "columns": columns, "problem": ""}


def calibrate(folder: Path, arguments: Mapping[str, Any], reporter: Reporter) -> dict[str, Any]:
    """Fit a calibrator to probabilities with outcomes, and write the report on them."""
    reporter.say("Comparing the probabilities with the outcomes")
    table, target = _read_given(arguments)
    given = {column: name for name, column in arguments["columns"].items() if column}
    is_single = len(given) < len(arguments["columns"])
    fitted = fit_probabilities(
        table, target, columns=given, positive=next(iter(given.values())) if is_single else None
    )
    commands = spell_calibration(fitted, table, arguments["location"], "model.skops", REPORT)
    analysis = report_on_probabilities(
        table, fitted, folder / REPORT, title=Path(arguments["file"]).name, commands=commands
    )
    source = Source(Path(arguments["file"]).name, commands=commands)
    numbers = json.dumps(report_to_dict(analysis, source), indent=1, ensure_ascii=False)
    write_atomically(folder / NUMBERS, f"{numbers}\n".encode())
    return {**save_model(fitted, folder), "command": shlex.join(commands.repeat)}


def _read_given(arguments: Mapping[str, Any]) -> tuple[pd.DataFrame, str]:
    """Read a table of probabilities and outcomes."""
    table = read_table(arguments["file"], sheet=arguments["sheet"], missing=arguments["missing"])
    return table, find_column(table, arguments["target"], "target")
