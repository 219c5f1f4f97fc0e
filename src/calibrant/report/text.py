"""Sentences of the report, for readers without a background in statistics.

Every sentence puts a part of one `Decision` into words, so that no two of them disagree.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np

from calibrant._core.phrases import capitalize, count
from calibrant.calibrators import CalibrationReport
from calibrant.report.effects import Doubt, Effect, Gain, ScoreChanges, Skill
from calibrant.report.formatting import has_bounds, p_value, percent, points_up
from calibrant.report.records import Analysis, Decision, Standing
from calibrant.report.subgroup_text import answer_subgroups
from calibrant.report.verdicts import (
    NO_ERROR,
    SMALL_ERROR,
    Miscalibration,
    Tendency,
    Verdict,
)

VERDICT_BADGES = {
    Verdict.CALIBRATED: "Yes",
    Verdict.NEARLY_CALIBRATED: "Nearly",
    Verdict.UNCLEAR: "Cannot tell",
    Verdict.MISCALIBRATED: "No",
}
EFFECT_BADGES = {
    Effect.IMPROVED: "Better",
    Effect.IMPAIRED: "Worse",
}
DOUBT_BADGES = {
    Doubt.NEGLIGIBLE: "Hardly any change",
    Doubt.CHANCE: "May be chance",
    Doubt.DISAGREEMENT: "Mixed",
}
STANDING_LABELS = {
    Standing.BEST: "recommended",
    Standing.SAME: "practically the same",
    Standing.CLOSE: "about as good",
    Standing.WORSE: "worse, beyond chance",
}
# Where nobody should rely on the answers yet.
DOUBT_BADGE = "Not yet"
NO_MODEL = "None yet"
ON_THESE_ROWS = "On these rows:"
# What to do about a model that is no better than guessing.
BETTER_COLUMNS = "Look for columns that say more about it, or add rows."
TENDENCY_LABELS = {
    Tendency.OVERCONFIDENT: "too confident",
    Tendency.UNDERCONFIDENT: "not confident enough",
}


def summarize(
    analysis: Analysis,
    warnings: Sequence[str] = (),
    doubt: str = "",
    target: str | None = None,
) -> str:
    """Answer the questions of the report, one per line, after the warnings."""
    best = analysis.recommendation
    model = analysis.models[best.model]
    return "\n".join(
        [
            *(f"Warning: {' '.join(warning.split())}" for warning in warnings),
            f"Which model? {answer_model(analysis)}",
            f"Can I trust its probabilities? {answer_trust(best.miscalibration, doubt)}",
            "Compared with guessing? "
            f"{answer_skill(best.skill, analysis.evaluation.classes, target)}",
            *answer_subgroups(model.calibrated_assessment if best.calibrate else model.assessment),
        ]
    )


def answer_model(analysis: Analysis) -> str:
    """Name the model to use, or say that there is none."""
    best = analysis.recommendation
    if not analysis.beats_guessing:
        return f"{NO_MODEL}: the closest is {best.label}."
    return f"{capitalize(best.label)}."


def answer_trust(found: Miscalibration, doubt: str = "") -> str:
    """Answer in a few sentences whether probabilities can be trusted.

    A doubt, which is why nobody should rely on the answer yet, comes first.
    """
    start = f"{doubt} {ON_THESE_ROWS} " if doubt else ""
    return f"{badge_trust(found, doubt)}: {start}{explain_verdict(found, doubt)}"


def badge_trust(found: Miscalibration, doubt: str = "") -> str:
    """Return a verdict in a few words, which is never a yes if the answer is in doubt."""
    if doubt and found.verdict is not Verdict.MISCALIBRATED:
        return DOUBT_BADGE
    return VERDICT_BADGES[found.verdict]


def explain_verdict(found: Miscalibration, doubt: str = "") -> str:
    """Give the sizes behind a verdict, as sentences that follow a colon.

    If the answer is in doubt, more rows would not settle it.
    """
    if found.verdict is Verdict.UNCLEAR:
        return _explain_unclear(found) + ("" if doubt else _ask_for_rows(found))
    start = "they are"
    if found.tendency is not Tendency.NEITHER:
        start = f"they are {TENDENCY_LABELS[found.tendency]},"
    most = ""
    if not isnan(found.largest_error):
        most = f" (at most {points_up(found.largest_error)}, allowing for chance)"
    return f"{start} off by {_points(found.typical_error)} on average{most}."


def _points(error: float) -> str:
    if error < NO_ERROR:
        return "less than 1 percentage point"
    return f"about {count(round(100 * error), 'percentage point')}"


def _explain_unclear(found: Miscalibration) -> str:
    """Say how large the error may be."""
    if not found.n_groups or isnan(found.largest_error):
        return "there are too few rows."
    few = f"with only {count(found.n_groups, _unit(found))},"
    most = count(points_up(found.largest_error), "percentage point")
    if found.is_significant:
        return f"they are off, but {few} the average error may be anything up to {most}."
    return f"{few} the average error could be as large as {most}."


def _ask_for_rows(found: Miscalibration) -> str:
    """Say how many more rows would settle a verdict."""
    if found.n_more is None:
        return ""
    more = count(found.n_more, f"more {_unit(found)}")
    return f" About {more} would show whether it is at most {100 * SMALL_ERROR:.0f}."


def _unit(found: Miscalibration) -> str:
    return "row" if found.n_groups == found.n_rows else "group"


def answer_skill(skill: Skill, classes: Sequence[Any], target: str | None = None) -> str:
    """Compare the predictions with guessing, in two or three sentences."""
    commonest = str(classes[skill.commonest_class])
    if commonest == target:
        commonest = f"{target} = {commonest}"
    return (
        f"It is right {percent(skill.accuracy)} of the time. Always guessing {commonest!r} would "
        f"be right {percent(skill.guess_accuracy)} of the time.{_judge_skill(skill)}"
    )


def _judge_skill(skill: Skill) -> str:
    """Judge the difference in accuracy, and the probabilities where these say something else."""
    is_better = skill.effect is Effect.IMPROVED
    if skill.is_more_often_right:
        return (
            ""
            if is_better
            else " Its probabilities, however, are not clearly better than the class frequencies."
        )
    start = " The difference may be chance"
    if percent(skill.accuracy) == percent(skill.guess_accuracy):
        start = " So it is right about as often"
    elif skill.accuracy_change.estimate <= 0:
        start = " So it is not right more often"
    if is_better:
        return f"{start}, but its probabilities tell more than the class frequencies do."
    return f"{start}, and its probabilities are not clearly better than the class frequencies."


def answer_data(points: Sequence[str], *, has_repeats: bool) -> str:
    """Give the points of the warnings or, if there are none, what was looked for."""
    if points:
        return f"{capitalize('; '.join(points))} (see above)."
    others = (
        "rows that belong together, classes that differ only in case, and models no better than "
        "guessing. Other problems are possible."
    )
    if has_repeats:
        return (
            "A few rows are repeated: see the note. The other checks found nothing: they look for "
            f"columns that give the class away, {others}"
        )
    return (
        "None of the checks found anything: they look for columns that give the class away, "
        f"repeated rows, {others}"
    )


def warn_of_guessing(analysis: Analysis, target: str | None = None) -> str:
    """Say that no model is clearly better than guessing; an empty text if one is."""
    if analysis.beats_guessing:
        return ""
    subject = "the class" if target is None else repr(target)
    n_models = len(analysis.models)
    who = "The model is" if n_models == 1 else "No model is clearly"
    n_rows = count(len(analysis.evaluation.y), "row")
    return (
        f"{who} {'not clearly ' if n_models == 1 else ''}better at predicting {subject} than "
        f"guessing by the class frequencies, as far as {n_rows} can tell. {BETTER_COLUMNS}"
    )


def describe_miscalibration(found: Miscalibration) -> str:
    """Describe the test and the interval behind a verdict."""
    p = p_value(found.p_value)
    error = found.error
    bounds = ""
    if has_bounds(error):
        low, high = f"{100 * error.low:.0f}", points_up(found.largest_error)
        bounds = f" ({percent(error.level)} interval: {low} to {high})"
    finding = "finds miscalibration" if found.is_significant else "finds no miscalibration"
    rest = {
        Verdict.NEARLY_CALIBRATED: ", but the error is small",
        Verdict.UNCLEAR: f", and an error of more than {100 * SMALL_ERROR:.0f} percentage points "
        "cannot be ruled out",
    }.get(found.verdict, "")
    return (
        f"The most probable class gets a probability of {percent(found.confidence)} on average and "
        f"is right {percent(found.accuracy)} of the time. The probabilities are off by "
        f"{_points(found.typical_error)} on average{bounds}. A test across all classes "
        f"{finding} beyond chance ({p}){rest}."
    )


def badge_effect(changes: ScoreChanges) -> str:
    """Return an effect in a few words."""
    if changes.doubt is not None:
        return DOUBT_BADGES[changes.doubt]
    return EFFECT_BADGES[changes.effect]


def describe_effect(gain: Gain) -> str:
    """Say in one sentence what calibration does to the probabilities."""
    lower = gain.log_loss.change.estimate < 0
    if gain.doubt is not None:
        return {
            Doubt.NEGLIGIBLE: "Calibration hardly changes them.",
            Doubt.CHANCE: f"Calibration makes them {'better' if lower else 'worse'} on these rows, "
            "but that may be chance.",
            Doubt.DISAGREEMENT: f"Calibration {'lowers' if lower else 'raises'} the log loss but "
            f"{'raises' if lower else 'lowers'} the Brier score.",
        }[gain.doubt]
    return {
        Effect.IMPROVED: "Calibration makes them better, beyond chance.",
        Effect.IMPAIRED: "Calibration makes them worse, beyond chance.",
    }[gain.effect]


def describe_gain(gain: Gain) -> str:
    """Give the mean probability of the true class, without and with calibration."""
    uncalibrated, calibrated = (
        percent(np.exp(-interval.estimate))
        for interval in (gain.log_loss.uncalibrated, gain.log_loss.calibrated)
    )
    return (
        f"On average, the true class gets a probability of {uncalibrated} without calibration and "
        f"{calibrated} with it (geometric mean)."
    )


def describe_recommendation(analysis: Analysis) -> str:
    """Compare the recommended model with the others; an empty text if there are none."""
    best, *others = analysis.decisions
    if not analysis.beats_guessing:
        return f"The closest is {best.label}."
    return _compare_models(others) if others else ""


def explain_label(decision: Decision) -> str:
    """Say what the label of a model means."""
    if decision.calibrate:
        return "Calibrated: corrected to come true as often as predicted."
    return "Uncalibrated: not corrected."


def _compare_models(others: Sequence[Decision]) -> str:
    close = [each.label for each in others if each.standing is not Standing.WORSE]
    start = f"Of {count(len(others) + 1, 'model')}, its probabilities are closest to what happened"
    if not close:
        rest = "the other is" if len(others) == 1 else "all others are"
        return f"{start}; {rest} worse, beyond chance."
    return f"{start}. About as good: {'; '.join(close)}."


def describe_calibration(report: CalibrationReport) -> str:
    """Name the calibrators, by decreasing weight."""
    by_weight = sorted(zip(report.weights, report.candidates, strict=True), reverse=True)
    names = [f"{name} ({percent(weight)})" for weight, name in by_weight if weight > 0]
    if len(names) > 1:
        return f"Its calibration is a weighted average of {', '.join(names)}."
    if report.weights[0] == 1.0:
        return "Its calibration leaves the probabilities nearly unchanged."
    return f"It is calibrated by {by_weight[0][1]}."
