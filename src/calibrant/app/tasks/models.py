"""Tasks with models: fit one, open a saved one, predict rows, look closely at one case."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calibrant._core.files import write_atomically
from calibrant._core.phrases import capitalize
from calibrant._core.typing import FloatArray
from calibrant.app.reporting import Reporter
from calibrant.app.tasks.tables import N_JOBS
from calibrant.calibrators import UpdateChoice
from calibrant.decisions import CostTable, decide
from calibrant.tabular import MODELS, TableModel, fit_table, read_table
from calibrant.tabular.cells import as_text, is_missing
from calibrant.tabular.csv_output import to_csv
from calibrant.tabular.excel_output import to_excel
from calibrant.tabular.kept_columns import keep_columns
from calibrant.tabular.loading import load_model
from calibrant.tabular.predictions import tabulate_predictions
from calibrant.tabular.reading import get_reading
from calibrant.tabular.requests import TableRequest
from calibrant.tabular.saved_model import SavedModel
from calibrant.tabular.schema import Kind
from calibrant.tabular.skill import warn_of_guessing
from calibrant.tabular.variations import Variation, make_row, vary_features

MODEL = "model.skops"
CSV, EXCEL, ROWS = "predictions.csv", "predictions.xlsx", "rows.json"
# How many features the page on a case lists.
MOST_VARIATIONS = 12
# Excel files of more rows take too long to write.
MOST_EXCEL_ROWS = 50_000


def fit(folder: Path, arguments: Mapping[str, Any], reporter: Reporter) -> dict[str, Any]:
    """Fit a model to a table and save it."""
    reporter.say("Fitting the model")
    request = TableRequest(**arguments["rows"])
    table = request.read()
    method = "auto" if arguments["calibrated"] else None
    fitted = fit_table(
        table, request.describe(table), model=arguments["model"], method=method, n_jobs=N_JOBS
    )
    return save_model(fitted, folder)


def open_model(folder: Path, arguments: Mapping[str, Any], reporter: Reporter) -> dict[str, Any]:  # noqa: ARG001
    """Open a saved model."""
    reporter.say("Opening the model")
    return describe_model(load_model(arguments["file"]), str(Path(arguments["file"]).resolve()))


def save_model(model: SavedModel, folder: Path) -> dict[str, Any]:
    """Save a model, and describe it."""
    model.save(folder / MODEL)
    return describe_model(model, str(folder / MODEL))


def describe_model(model: SavedModel, file: str) -> dict[str, Any]:
    """Return what pages show of a model."""
    content = model.to_dict()
    name = str(content["settings"].get("model"))  # calibrators of probabilities have none
    return {
        "file": file,
        "title": capitalize(MODELS[name].title if name in MODELS else model.KIND),
        "target": model.target,
        "classes": list(model.output_columns),
        "columns": list(model.input_columns),
        "fields": [
            {
                "name": column.name,
                "categories": list(column.categories),
                "low": column.low,
                "high": column.high,
                "unit": column.number_format.unit,
            }
            for column in (model.schema.features if isinstance(model, TableModel) else ())
        ],
        "report": content.get("report") or "",
        "warning": warn_of_guessing(model.performance, model.target),
        "history": [entry.reason for entry in model.history],
    }


@lru_cache(maxsize=4)
def read_model(file: str) -> SavedModel:
    """Load a model, or return it if this process has loaded it before; files never change."""
    return load_model(file)


def make_costs(arguments: Mapping[str, Any], model: SavedModel) -> CostTable | None:
    """Return the costs that the user entered, if any; the decisions are the classes."""
    costs = arguments["costs"]
    classes = model.output_columns
    return None if costs is None else CostTable(classes, classes, np.array(costs, dtype=float))


def predict(folder: Path, arguments: Mapping[str, Any], reporter: Reporter) -> dict[str, Any]:
    """Predict the rows of a table, and write them as CSV, as Excel and for the page."""
    reporter.say("Predicting")
    model = read_model(arguments["model"])
    table = read_table(arguments["data"], expected=model.input_columns)
    notices = [*(each.text for each in get_reading(table).notices), *model.find_notices(table)]
    proba = model.predict_proba(table)
    costs = make_costs(arguments, model)
    found = tabulate_predictions(proba, model.output_columns, costs=costs)
    names = [str(name) for name in table.columns if str(name) not in found]
    write_atomically(folder / CSV, to_csv({**keep_columns(table, names), **found}))
    has_excel = len(table) <= MOST_EXCEL_ROWS
    if has_excel:
        kept = keep_columns(table, names, numbers=True)
        write_atomically(folder / EXCEL, to_excel({**kept, **found}))
    given = table[names].to_numpy(dtype=object).tolist()
    word = str(table.index.name or "row")
    content = {
        "places": [f"{word} {number}" for number in table.index],
        "predicted": list(found),
        "given": names,
        "rows": [
            [*predictions, *("" if is_missing(cell) else as_text(cell) for cell in cells)]
            for predictions, cells in zip(zip(*found.values(), strict=True), given, strict=True)
        ],
    }
    write_atomically(folder / ROWS, json.dumps(content).encode())
    predicted = proba.argmax(axis=1)
    counts = np.bincount(predicted, minlength=len(model.output_columns)).tolist()
    return {
        "n_rows": len(table),
        "notices": notices,
        "counts": dict(zip(model.output_columns, counts, strict=True)),
        "expected": dict(zip(model.output_columns, proba.sum(axis=0).tolist(), strict=True)),
        "has_costs": costs is not None,
        "has_excel": has_excel,
    }


def case(folder: Path, arguments: Mapping[str, Any], reporter: Reporter) -> dict[str, Any]:  # noqa: ARG001
    """Predict one case, and find what would change the prediction."""
    reporter.say("Predicting")
    model = read_model(arguments["model"])
    if not isinstance(model, TableModel):
        raise ValueError(
            "A single case requires a model that was fitted to a table, but this one corrects "
            "probabilities. Choose a table of probabilities instead."
        )
    row = make_row(model, arguments["values"])
    try:
        proba = model.predict_proba(row)[0]
    except ValueError as error:
        fault, in_row, _ = str(error).partition(" in row 1.")
        if not in_row:
            raise
        raise ValueError(f"{fault}. Correct it, or leave the field empty.") from None
    costs = make_costs(arguments, model)
    chosen, expected = choose(proba[None, :], costs)
    variations = vary_features(model, row)[:MOST_VARIATIONS]
    numbers = model.schema.names(Kind.number)
    intervals, without = find_intervals(model, row)
    return {
        "proba": proba.tolist(),
        "intervals": intervals,
        "without_intervals": without,
        "decision": None if costs is None else int(chosen[0]),
        "expected_cost": None if costs is None else float(expected[0]),
        "notices": model.find_notices(row),
        "variations": [
            {
                **describe_variation(each, proba),
                "changed": list_changes(each, int(chosen[0]), costs, each.name in numbers),
            }
            for each in variations
        ],
        "given": {
            name: value
            for name, value in arguments["values"].items()
            if name in model.input_columns
        },
    }


def find_intervals(model: TableModel, row: pd.DataFrame) -> tuple[list[list[float]] | None, str]:
    """Return the ends of an interval for each probability, or None and why there are none."""
    if any(each.choice != UpdateChoice.NONE for each in model.history):
        return None, "There are no intervals, because the model was updated since it was fitted."
    try:
        return model.predict_interval(model.select_inputs(row))[0].tolist(), ""
    except ValueError:
        return None, (
            "There are no intervals, because the model was fitted without calibration or by an "
            "earlier version of calibrant. Fit it again, with calibrated probabilities."
        )


def choose(proba: FloatArray, costs: CostTable | None) -> tuple[Any, Any]:
    """Return the cheapest decision of each row and its cost; without costs, the likeliest class."""
    if costs is None:
        return proba.argmax(axis=1), np.zeros(len(proba))
    found = decide(proba, costs.costs)
    return found.decision, found.expected_cost


def describe_variation(variation: Variation, proba: FloatArray) -> dict[str, Any]:
    """Return how far other values of a feature move the probability of the likeliest class."""
    of_top = variation.proba[:, int(proba.argmax())]
    low, high = int(of_top.argmin()), int(of_top.argmax())
    return {
        "name": variation.name,
        "lowest": {"value": variation.values[low], "proba": float(of_top[low])},
        "highest": {"value": variation.values[high], "proba": float(of_top[high])},
    }


def list_changes(
    variation: Variation, chosen: int, costs: CostTable | None, is_number: bool
) -> list[dict[str, Any]]:
    """Return the values of a feature that would change the choice; ranges of numbers."""
    others, _ = choose(variation.proba, costs)
    changes: list[dict[str, Any]] = []
    previous = None
    for value, choice in zip(variation.values, others.tolist(), strict=True):
        if choice != chosen and is_number and choice == previous:
            changes[-1]["last"] = value
        elif choice != chosen:
            changes.append({"first": value, "last": value, "choice": choice})
        previous = choice
    return changes
