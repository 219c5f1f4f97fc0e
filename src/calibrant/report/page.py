"""Numbers -> one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from calibrant import __version__
from calibrant._core.files import write_atomically
from calibrant._core.typing import FloatArray
from calibrant.report import text
from calibrant.report.analysis import find
from calibrant.report.evaluation import Evaluation
from calibrant.report.figures import draw_reliability, element
from calibrant.report.records import Estimate, Findings, Reliability
from calibrant.tabular.columns import Schema

# Probabilities in the page, for the cost table: about 3 MB at most.
MOST_NUMBERS = 1_000_000
# Up to this many classes every kind of mistake has its own cost; beyond, every class has.
MOST_COST_CLASSES = 8
MOST_CELLS = 12


@dataclass(frozen=True, eq=False)
class Source:
    """Where the rows of a report come from.

    Attributes
    ----------
    title : str
        The name of the file.
    place : str
        What a row is counted by: "row" or "line".
    rows : sequence or None
        The number of each row of the evaluation; None counts from 1.
    schema : Schema or None
        What the table holds; None where there are only probabilities.
    cells : callable or None
        Returns names and texts of the cells of a row of the evaluation.
    command : sequence of str
        What to type to make the report again.
    next_command : callable or None
        Returns what to type to get a model, given its number and whether it is calibrated.
    """

    title: str
    place: str = "row"
    rows: Sequence[Any] | None = None
    schema: Schema | None = None
    cells: Callable[[int], list[tuple[str, str]]] | None = None
    command: Sequence[str] = ()
    next_command: Callable[[int, bool], Sequence[str]] | None = None


def write_report(evaluation: Evaluation, path: str | Path, source: Source) -> Findings:
    """Write the report of an evaluation, whole or not at all.

    Parameters
    ----------
    evaluation : Evaluation
        Held-out probabilities of some models.
    path : str or Path
        The HTML file to write.
    source : Source
        Where the rows come from.

    Returns
    -------
    Findings
        The numbers in it.
    """
    findings = find(evaluation)
    write_atomically(path, render_report(findings, source).encode("utf-8"))
    return findings


def render_report(findings: Findings, source: Source) -> str:
    """Return the HTML of a report.

    Parameters
    ----------
    findings : Findings
        The numbers.
    source : Source
        Where the rows come from.

    Returns
    -------
    str
        One page, with its style, script and data inside.
    """
    evaluation = findings.evaluation
    numbers = range(1, len(evaluation.y) + 1) if source.rows is None else source.rows
    return render_page(
        "report.html",
        package="calibrant.report",
        findings=findings,
        evaluation=evaluation,
        source=source,
        classes=[str(name) for name in evaluation.classes],
        titles=[model.model.name for model in findings.models],
        scales=[
            _scale([model.gain.log_loss.change for model in findings.models]),
            _scale([model.gain.brier.change for model in findings.models]),
        ],
        numbers=numbers,
        rows=_rows_data(findings, source.place, numbers),
        draw=_draw,
        most_cost_classes=MOST_COST_CLASSES,
        most_cells=MOST_CELLS,
    )


def render_page(template: str, *, package: str, **context: Any) -> str:
    """Render a template of a package, which may build on those of the report.

    Parameters
    ----------
    template : str
        The name of the template.
    package : str
        The package in whose folder ``templates`` it lies.
    **context : dict
        What it shows.

    Returns
    -------
    str
        The HTML.
    """
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(package), jinja2.PackageLoader("calibrant.report")]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": text.percent,
        "number": text.number,
        "signed": text.signed,
        "p_value": text.p_value,
        "quoted": _quoted,
    }
    environment.globals |= {"words": text, "version": __version__, "zip": zip}
    script = _asset("page.js")
    # The one script of the page is named by its hash: no other would run.
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return environment.get_template(template).render(
        style=Markup(_asset("style.css")), script=Markup(script), script_hash=digest, **context
    )


def _asset(name: str) -> str:
    return files("calibrant.report").joinpath("templates", name).read_text(encoding="utf-8")


def _quoted(command: Sequence[str]) -> Markup:
    """Quote a command for the shell; lines break between its words."""
    words = [element("span", shlex.quote(str(word)), class_="word") for word in command]
    return Markup(" ").join(words)


def _draw(reliability: Reliability, kind: str, label: str) -> Markup:
    curve, count = (
        (reliability.before, reliability.before_count)
        if kind == "before"
        else (reliability.after, reliability.after_count)
    )
    return draw_reliability(curve, count, kind, label)


def _scale(changes: list[Estimate]) -> tuple[float, float]:
    """Return the ends of the scale on which changes are shown; 0 is on it."""
    low, high = min(own.low for own in changes), max(own.high for own in changes)
    low, high = min(low, 0.0), max(high, 0.0)
    margin = 0.04 * max(high - low, 0.01)
    return low - margin, high + margin


def _rows_data(findings: Findings, place: str, numbers: Sequence[Any]) -> dict[str, Any]:
    """Return what the cost table computes with."""
    evaluation = findings.evaluation
    rows = evaluation.rows
    n_classes = len(evaluation.classes)
    step = -(-len(rows) * n_classes * 2 * len(findings.models) // MOST_NUMBERS)
    return {
        "classes": [str(name) for name in evaluation.classes],
        "place": place,
        "rows": [numbers[row] for row in rows[::step].tolist()],
        "truth": evaluation.y[rows[::step]].tolist(),
        "step": step,
        "models": [
            {"before": _packed(model.before[::step]), "after": _packed(model.after[::step])}
            for model in findings.models
        ],
    }


def _packed(proba: FloatArray) -> str:
    return base64.b64encode((proba * 65535).round().astype("<u2").tobytes()).decode("ascii")
