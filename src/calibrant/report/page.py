"""The HTML page of a report, as a single self-contained file."""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

try:
    import jinja2
    from markupsafe import Markup
except ImportError:
    raise ImportError(
        "The page of a report requires jinja2, which is not installed. "
        "Install it with: pip install 'calibrant[cli]'"
    ) from None

from calibrant import __version__
from calibrant._core.files import write_atomically
from calibrant._core.phrases import capitalize, count
from calibrant._core.typing import FloatArray
from calibrant.report import formatting, text
from calibrant.report.analysis import analyze
from calibrant.report.evaluation import Evaluation
from calibrant.report.figures import draw_reliability
from calibrant.report.records import Analysis, Change
from calibrant.report.source import Source
from calibrant.report.svg import element

# The largest number of probabilities stored in the page for the cost table, about 3 MB.
MOST_STORED = 1_000_000
# With more classes than this, the cost table has one cost per true class.
MOST_COST_CLASSES = 8
# The largest number of cells shown for each of the most changed rows.
MOST_CELLS = 12


def write_report(evaluation: Evaluation, path: str | Path, source: Source) -> Analysis:
    """Write the report on an evaluation to an HTML file.

    An existing file is replaced only after the new one has been written completely.

    Parameters
    ----------
    evaluation : Evaluation
        Held-out predictions of one or more models.
    path : str or Path
        HTML file to write.
    source : Source
        The data behind the evaluation.

    Returns
    -------
    Analysis
        The numbers of the report.
    """
    analysis = analyze(evaluation)
    write_atomically(path, render_report(analysis, source).encode("utf-8"))
    return analysis


def render_report(analysis: Analysis, source: Source) -> str:
    """Render a report as HTML.

    Parameters
    ----------
    analysis : Analysis
        The numbers of the report.
    source : Source
        The data behind them.

    Returns
    -------
    str
        A page that includes its style, script and data.
    """
    evaluation = analysis.evaluation
    row_numbers = source.row_numbers(len(evaluation.y))
    return render_page(
        "report.html",
        package="calibrant.report",
        analysis=analysis,
        evaluation=evaluation,
        source=source,
        classes=[str(name) for name in evaluation.classes],
        scales=[
            _axis_limits([model.gain.log_loss.change for model in analysis.models]),
            _axis_limits([model.gain.brier_score.change for model in analysis.models]),
        ],
        row_numbers=row_numbers,
        fit_command=_fit_command(analysis, source),
        decision_data=_decision_data(analysis, source.row_word, row_numbers),
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
    }
    environment.tests["bounded"] = formatting.has_bounds
    environment.globals |= {
        "count": count,
        "text": text,
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


def _read_asset(name: str) -> str:
    return files("calibrant.report").joinpath("templates", name).read_text(encoding="utf-8")


def _quote_for_shell(command: Sequence[str]) -> Markup:
    """Quote a command for the shell such that lines break only between words."""
    words = [element("span", shlex.quote(str(word)), class_="word") for word in command]
    return Markup(" ").join(words)


def _fit_command(analysis: Analysis, source: Source) -> Sequence[str]:
    """Return the command that fits and saves the recommended model, if there is one."""
    if source.commands.fit is None:
        return ()
    best = analysis.best
    # A model without predict_proba can be saved only together with its calibration.
    has_proba = analysis.evaluation.models[best.model].has_proba
    return source.commands.fit(best.model, best.calibrated or not has_proba)


def _axis_limits(changes: list[Change]) -> tuple[float, float]:
    """Return limits that include all intervals and 0, with a margin."""
    low = min(0.0, *(change.low for change in changes))
    high = max(0.0, *(change.high for change in changes))
    margin = 0.04 * max(high - low, 0.01)
    return low - margin, high + margin


def _decision_data(analysis: Analysis, row_word: str, row_numbers: Sequence[Any]) -> dict[str, Any]:
    """Return the data behind the cost table; if there are many rows, only for every n-th row."""
    evaluation = analysis.evaluation
    rows = evaluation.held_out_rows
    n_stored = len(rows) * len(evaluation.classes) * 2 * len(analysis.models)
    step = -(-n_stored // MOST_STORED)
    return {
        "classes": [str(name) for name in evaluation.classes],
        "rowWord": row_word,
        "rows": [row_numbers[row] for row in rows[::step].tolist()],
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
