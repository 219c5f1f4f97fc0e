"""The HTML page of a report, as a single self-contained file."""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

try:
    import jinja2
    from markupsafe import Markup, escape
except ImportError:
    raise ImportError(
        "The page of a report requires jinja2, which is not installed. "
        "Install it with: pip install 'calibrant[cli]'"
    ) from None

from calibrant import __version__
from calibrant._core.files import write_atomically
from calibrant._core.phrases import capitalize, count
from calibrant._core.typing import FloatArray
from calibrant.decisions import CostTable
from calibrant.metrics.subgroups import describe_event
from calibrant.report import formatting, procedure, section_text, text
from calibrant.report.analysis import analyze
from calibrant.report.curves import draw_calibration_curves, draw_decision_curves
from calibrant.report.effects import SMALL_CHANGE, Measure
from calibrant.report.evaluation import Evaluation
from calibrant.report.figures import define_axes, draw_reliability, draw_sketch
from calibrant.report.forest import draw_forest
from calibrant.report.methods import describe_methods
from calibrant.report.records import Analysis, ModelAnalysis
from calibrant.report.sections import Panel, Variant, choose_sections, collect_lines
from calibrant.report.source import Source
from calibrant.report.subgroup_text import describe_subgroups
from calibrant.report.svg import element
from calibrant.report.tripod import ITEMS
from calibrant.report.verdicts import ALPHA

# The largest number of probabilities stored in the page for the cost table, about 160 kB.
MOST_STORED = 60_000
# With more classes than this, the cost table has one cost per true class.
MOST_COST_CLASSES = 8
# With more classes than this, the page lists the most frequent mistakes instead of all of them.
MOST_GRID_CLASSES = 10
# The number of mistakes in that list.
MOST_MISTAKES = 12
# The largest number of cells shown for each of the most changed rows.
MOST_CELLS = 12
# The largest number of warnings above the answers; the section on the data shows all of them.
MOST_WARNINGS = 3
# The thresholds in the table of net benefit.
LISTED_THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)
# The largest number of pairs of classes whose thresholds are listed.
MOST_PAIRS = 15
# A change in a score is shown relative to no less than this, so that a negligible one looks small.
SMALLEST_UNIT = 10 * SMALL_CHANGE
# An option of a command in a text, with its value if that is short and has no spaces.
OPTION = re.compile(r"(--[a-z][a-z-]*(?:=\S{0,20}[^\s.,;)](?=[\s.,;)]|$))?)")


def write_report(
    evaluation: Evaluation,
    path: str | Path,
    source: Source | None = None,
    costs: CostTable | None = None,
) -> Analysis:
    """Write the report on an evaluation to an HTML file.

    An existing file is replaced only after the new one has been written completely.

    Parameters
    ----------
    evaluation : Evaluation
        Held-out predictions of one or more models.
    path : str or Path
        HTML file to write.
    source : Source, default=None
        The data behind the evaluation. ``None`` means unknown data.
    costs : CostTable, default=None
        Costs of decisions, as in `analyze`. ``None`` means unknown costs.

    Returns
    -------
    Analysis
        The numbers of the report.
    """
    analysis = analyze(evaluation, costs)
    write_atomically(path, render_report(analysis, source).encode("utf-8"))
    return analysis


def render_report(analysis: Analysis, source: Source | None = None) -> str:
    """Render a report as HTML.

    Parameters
    ----------
    analysis : Analysis
        The numbers of the report.
    source : Source, default=None
        The data behind them. ``None`` means unknown data.

    Returns
    -------
    str
        A page that includes its style, script and data.
    """
    source = Source() if source is None else source
    evaluation = analysis.evaluation
    row_labels = source.row_labels(len(evaluation.y))
    n_classes = len(evaluation.classes)
    panels = [_panel(index, model) for index, model in enumerate(analysis.models)]
    return render_page(
        "report.html",
        package="calibrant.report",
        analysis=analysis,
        evaluation=evaluation,
        source=source,
        classes=[str(name) for name in evaluation.classes],
        warnings=source.warnings(analysis),
        notes=source.notes,
        # Of two classes, one is enough: as elsewhere, the second one is the positive class.
        views=[2, 0] if n_classes == 2 else range(len(analysis.models[0].reliability)),
        panels=panels,
        chosen_model=analysis.best.model,
        sections=choose_sections(panels),
        methods=describe_methods(analysis, source),
        reporting_items=[(item, item.in_report) for item in ITEMS if item.in_report],
        has_optimism=not evaluation.is_given,
        mistakes=[_most_frequent_mistakes(model) for model in analysis.models],
        row_labels=row_labels,
        next_step=source.next_step(analysis),
        doubt=source.doubt(analysis),
        decision_data=_decision_data(analysis, row_labels),
        axes=define_axes(),
        draw_sketch=draw_sketch,
        place_change=_place_change,
        most_grid_classes=MOST_GRID_CLASSES,
        most_warnings=MOST_WARNINGS,
        draw_reliability=draw_reliability,
        most_cost_classes=MOST_COST_CLASSES,
        most_cells=MOST_CELLS,
    )


def render_page(template: str, *, package: str, **context: Any) -> str:
    """Render a template, which may extend those of the report.

    Parameters
    ----------
    template : str
        Name of the template.
    package : str
        Package that has the template in its folder ``templates``.
    **context : dict
        Variables of the template.

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
        "percent": formatting.percent,
        "number": formatting.number,
        "signed": formatting.signed,
        "p_value": formatting.p_value,
        "capitalized": capitalize,
        "shell": _quote_for_shell,
        "options": _mark_options,
    }
    environment.tests["bounded"] = formatting.has_bounds
    environment.globals |= {
        "draw_calibration_curves": draw_calibration_curves,
        "draw_decision_curves": draw_decision_curves,
        "listed_thresholds": LISTED_THRESHOLDS,
        "most_pairs": MOST_PAIRS,
        "draw_forest": draw_forest,
        "collect_lines": collect_lines,
        "describe_subgroups": describe_subgroups,
        "name_event": describe_event,
        "alpha": ALPHA,
        "count": count,
        "text": text,
        "procedure": procedure,
        "section_text": section_text,
        "version": __version__,
        "zip": zip,
    }
    script = _read_asset("page.js")
    # The content security policy allows only the script with this hash.
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return environment.get_template(template).render(
        style=Markup(_read_asset("style.css")),
        script=Markup(script),
        script_hash=digest,
        **context,
    )


def _panel(index: int, model: ModelAnalysis) -> Panel:
    """Return what the sections show of a model: its probabilities before and after calibration."""
    variants = (
        Variant("uncalibrated", "uncalibrated", model.assessment),
        Variant("calibrated", "calibrated", model.calibrated_assessment),
    )
    return Panel(model.name, index, variants)


def _read_asset(name: str) -> str:
    return files("calibrant.report").joinpath("templates", name).read_text(encoding="utf-8")


def _quote_for_shell(command: Sequence[str]) -> Markup:
    """Quote a command for the shell such that lines break only between words."""
    words = [element("span", shlex.quote(str(word)), class_="word") for word in command]
    return Markup(" ").join(words)


def _mark_options(content: str) -> Markup:
    """Mark the options of commands in a text, so that no line breaks inside of them."""
    parts = OPTION.split(content)  # every second part is an option
    return Markup("").join(
        element("code", part, class_="option") if position % 2 else escape(part)
        for position, part in enumerate(parts)
    )


def _place_change(score: Measure) -> tuple[float, float, float]:
    """Return the low end, estimate and high end of a change as percentages of a strip's width.

    The middle of the strip is no change, and its ends are a change as large as the larger of the
    two scores, so that strips of good and of bad models can be read alike.
    """
    unit = max(score.uncalibrated.estimate, score.calibrated.estimate, SMALLEST_UNIT)
    change = score.change
    low, estimate, high = (
        50 + 50 * min(max(end / unit, -1.0), 1.0)
        for end in (change.low, change.estimate, change.high)
    )
    return low, estimate, high


def _most_frequent_mistakes(model: ModelAnalysis) -> list[tuple[int, int]]:
    """Return the pairs of true and most probable class with the most rows, calibrated."""
    counts = model.calibrated_counts * (1 - np.eye(len(model.calibrated_counts), dtype=int))
    order = np.argsort(-counts, axis=None, kind="stable")[:MOST_MISTAKES]
    pairs = [divmod(int(flat), len(counts)) for flat in order]
    return [pair for pair in pairs if counts[pair]]


def _decision_data(analysis: Analysis, row_labels: Sequence[str]) -> dict[str, Any]:
    """Return the data behind the cost table; if there are many rows, only for every n-th row."""
    evaluation = analysis.evaluation
    rows = evaluation.held_out_rows
    n_stored = len(rows) * len(evaluation.classes) * 2 * len(analysis.models)
    step = -(-n_stored // MOST_STORED)
    return {
        "classes": [str(name) for name in evaluation.classes],
        "rows": [row_labels[row] for row in rows[::step].tolist()],
        "truth": evaluation.y[rows[::step]].tolist(),
        "step": step,
        "models": [
            {
                "uncalibrated": _pack(model.uncalibrated[::step]),
                "calibrated": _pack(model.calibrated[::step]),
            }
            for model in analysis.models
        ],
    }


def _pack(proba: FloatArray) -> str:
    """Encode probabilities as 16-bit integers in base64."""
    return base64.b64encode((proba * 65535).round().astype("<u2").tobytes()).decode("ascii")
