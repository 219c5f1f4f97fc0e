"""Tasks on a table of data: a preview, a check of the choices, the report."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from calibrant._core.files import write_atomically
from calibrant.app.reporting import Reporter
from calibrant.report.cross_validation import EvaluationSettings
from calibrant.report.demo import N_TRAIN, make_demo_table
from calibrant.report.export import report_to_dict
from calibrant.report.requests import ReportRequest
from calibrant.tabular import MODELS, read_table
from calibrant.tabular.cells import as_text, is_missing
from calibrant.tabular.csv_output import to_csv
from calibrant.tabular.excel import list_sheets
from calibrant.tabular.preview import ColumnPreview, preview_column
from calibrant.tabular.readers import is_workbook
from calibrant.tabular.reading import get_reading
from calibrant.tabular.requests import TableRequest

# How much of a table a preview shows.
MOST_ROWS = 6
MOST_CLASSES = 6
# As many parallel fits as the command line runs by default.
N_JOBS = min(2, os.cpu_count() or 1)
REPORT, NUMBERS = "report.html", "report.json"


def example(folder: Path, arguments: Mapping[str, Any], reporter: Reporter) -> dict[str, Any]:  # noqa: ARG001
    """Write the data of the demo to a file."""
    table = make_demo_table(N_TRAIN, random_state=0)
    write_atomically(arguments["file"], to_csv({name: table[name].tolist() for name in table}))
    return {}


def preview(folder: Path, arguments: Mapping[str, Any], reporter: Reporter) -> dict[str, Any]:  # noqa: ARG001
    """Read a table, and say what was understood of each column."""
    reporter.say("Reading the file")
    file = arguments["file"]
    table = read_table(file, sheet=arguments["sheet"], missing=arguments["missing"])
    names = [str(name) for name in table.columns]
    rows = table.head(MOST_ROWS).to_numpy(dtype=object).tolist()
    return {
        "n_rows": len(table),
        "names": names,
        "columns": [_describe(preview_column(table, name)) for name in names],
        "rows": [["" if is_missing(cell) else as_text(cell) for cell in row] for row in rows],
        "notices": [notice.text for notice in get_reading(table).notices],
        "sheets": list_sheets(file) if is_workbook(file) else [],
        "models": {name: model.title for name, model in MODELS.items()},
    }


def _describe(found: ColumnPreview) -> dict[str, Any]:
    column = found.column
    return {
        "name": column.name,
        "kind": column.kind.value,
        "reason": column.reason,
        "n_missing": column.n_missing,
        "n_values": found.n_values,
        "examples": found.examples,
        "low": column.low,
        "high": column.high,
        "n_classes": len(found.class_count),
        "classes": list(found.class_count.items())[:MOST_CLASSES],
        "problem": found.problem,
    }


def check(folder: Path, arguments: Mapping[str, Any], reporter: Reporter) -> dict[str, Any]:  # noqa: ARG001
    """Check that a target can be predicted, and find what looks wrong."""
    reporter.say("Checking the columns")
    request = TableRequest(**arguments["rows"])
    schema = request.describe(request.read())
    return {
        "n_rows": schema.n_rows,
        "n_features": len(schema.features),
        "classes": dict(zip(schema.classes, schema.class_count, strict=True)),
        "notices": [notice.to_dict() for notice in schema.notices],
    }


def make_report_request(arguments: Mapping[str, Any]) -> ReportRequest:
    """Return the request for a report from the arguments of a task."""
    return ReportRequest(
        TableRequest(**arguments["rows"]),
        tuple(arguments["models"]),
        EvaluationSettings(arguments["n_folds"], arguments["n_repeats"], n_jobs=N_JOBS),
        data=arguments["location"],
    )


def report(folder: Path, arguments: Mapping[str, Any], reporter: Reporter) -> dict[str, Any]:
    """Evaluate models and write the report."""
    reporter.say("Reading the file")
    request = make_report_request(arguments)

    def progress(items: Iterable[Any], total: int) -> Iterator[Any]:
        yield from reporter.track(items, total)
        reporter.say("Writing the report")

    analysis, source, schema = request.write(folder / REPORT, progress)
    content = {**report_to_dict(analysis, source), "schema": schema.to_dict()}
    numbers = json.dumps(content, indent=1, ensure_ascii=False)
    write_atomically(folder / NUMBERS, f"{numbers}\n".encode())
    best = analysis.best
    has_proba = analysis.evaluation.models[best.model].has_proba
    return {
        "command": shlex.join(source.commands.repeat),
        "model": request.models[best.model],
        "calibrated": best.calibrated or not has_proba,
        "beats_guessing": analysis.beats_guessing,
        "answer": content["answers"]["model"],
    }
