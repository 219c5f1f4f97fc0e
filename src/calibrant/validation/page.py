"""The HTML page of a validation, as a single self-contained file."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

from calibrant._core.files import write_atomically
from calibrant.report.evaluation import MOST_CLASSES
from calibrant.report.figures import define_axes, draw_reliability
from calibrant.report.page import render_page
from calibrant.report.sections import Panel, Variant, choose_sections
from calibrant.report.text import VERDICT_BADGES
from calibrant.report.tripod import ITEMS
from calibrant.validation import text
from calibrant.validation.methods import describe_methods
from calibrant.validation.records import Validation, ValidationResult

# The first model is drawn like calibrated probabilities, the second like uncalibrated ones.
STATES = ("calibrated", "uncalibrated")
# The largest number of classes in the table of classes.
MOST_LISTED = 30


def write_validation(
    validation: Validation | ValidationResult,
    path: str | Path,
    *,
    title: str = "new rows",
    notices: Sequence[str] = (),
    history: Sequence[str] = (),
    update_command: Sequence[str] = (),
    repeat_command: Sequence[str] = (),
) -> None:
    """Write the page of a validation to an HTML file.

    Parameters
    ----------
    validation : Validation or ValidationResult
        The validation of one model, or of two side by side.
    path : str or Path
        HTML file to write.
    title : str, default="new rows"
        Name of the new rows.
    notices : sequence of str, default=()
        Sentences on what in the rows differs from the training data, for the top of the page.
    history : sequence of str, default=()
        Sentences on earlier updates of the model.
    update_command, repeat_command : sequence of str, default=()
        Words of the commands that update the model and that create the page again. Empty means
        that there is none.
    """
    if isinstance(validation, Validation):
        performance = validation.performance
        result = ValidationResult(performance.n_rows, performance.log_loss.n_rows, (validation,))
    else:
        result = validation
    style = files("calibrant.validation").joinpath("templates", "validation.css")
    panels = [_panel(result)]
    content = render_page(
        "validation.html",
        package="calibrant.validation",
        result=result,
        classes=[str(name) for name in result.models[0].classes],
        say=text,
        badges=VERDICT_BADGES,
        title=title,
        notices=notices,
        history=history,
        update_command=update_command,
        repeat_command=repeat_command,
        axes=define_axes(),
        draw_reliability=draw_reliability,
        states=STATES,
        panels=panels,
        chosen_model=None,
        sections=choose_sections(panels),
        methods=describe_methods(result, history),
        reporting_items=[(item, item.in_validation) for item in ITEMS if item.in_validation],
        has_optimism=False,
        views=_views(result),
        most_listed=MOST_LISTED,
        more_style=Markup(style.read_text(encoding="utf-8")),
    )
    write_atomically(path, content.encode("utf-8"))


def _panel(result: ValidationResult) -> Panel:
    """Return what the sections show: all models, side by side."""
    variants = tuple(
        Variant(model.name, state, model.assessment)
        for model, state in zip(result.models, STATES, strict=False)
    )
    return Panel("", None, variants)


def _views(result: ValidationResult) -> list[str | None]:
    """Return the class of each reliability diagram; None for the most probable class."""
    model = result.models[0]
    count = model.performance.class_count
    order = sorted(range(len(count)), key=lambda k: -count[k])[:MOST_CLASSES]
    return [None, *(str(model.classes[k]) for k in sorted(order))]
