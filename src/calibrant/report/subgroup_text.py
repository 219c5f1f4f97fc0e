"""What calibration by subgroup says, in sentences."""

from __future__ import annotations

from calibrant._core.phrases import capitalize, count
from calibrant.metrics import SubgroupCalibration
from calibrant.metrics.subgroups import TOP_LABEL
from calibrant.report.assessment import Assessment
from calibrant.report.formatting import p_value
from calibrant.report.subgroups import ColumnCalibration
from calibrant.report.verdicts import ALPHA

# Sentences name this many findings, those with the smallest p-values.
MOST_FINDINGS = 3


def answer_subgroups(assessment: Assessment) -> list[str]:
    """Answer for each column whether probabilities are right in every subgroup."""
    return [
        f"Right for every subgroup by {each.column!r}? {describe_subgroups(each)}"
        for each in assessment.subgroups
    ]


def describe_subgroups(found: ColumnCalibration) -> str:
    """Say where probabilities are wrong, and whether subgroups differ from each other.

    Parameters
    ----------
    found : ColumnCalibration
        Calibration by the subgroups of a column.

    Returns
    -------
    str
        Two sentences.
    """
    calibration = found.calibration
    is_wrong = calibration.p_value < ALPHA
    differs = calibration.difference_p_value < ALPHA
    test = p_value(calibration.difference_p_value)
    if is_wrong and differs:
        second = f"The subgroups differ from each other beyond chance ({test})."
    elif is_wrong:
        second = (
            f"It is not certain that the subgroups differ from each other ({test}): one correction "
            "for all rows may be enough."
        )
    elif differs:
        second = (
            f"The subgroups differ from each other beyond chance ({test}), but it is not certain "
            "in which of them the probabilities are wrong."
        )
    else:
        second = f"Nor do the subgroups differ from each other beyond chance ({test})."
    return f"{_describe_findings(calibration)} {second}"


def _describe_findings(calibration: SubgroupCalibration) -> str:
    cells = [
        (row.p_values[at], -abs(row.difference[at].estimate), row, at)
        for row in calibration.subgroups
        for at in calibration.shown_events
        if row.p_values[at] < ALPHA
    ]
    if not cells:
        return (
            "In no subgroup are the probabilities wrong beyond chance (smallest "
            f"{p_value(calibration.p_value)}). Smaller errors are possible: see the intervals."
        )
    cells.sort(key=lambda cell: cell[:2])
    phrases = []
    for p, _, row, at in cells[:MOST_FINDINGS]:
        difference = row.difference[at].estimate
        points = count(max(1, round(abs(100 * difference))), "percentage point")
        event = calibration.events[at]
        if event == TOP_LABEL:
            wrong = "too high" if difference < 0 else "too low"
            phrases.append(
                f"in {row.title!r}, the probability of the most probable class is {wrong} by "
                f"{points} ({p_value(p)})"
            )
        else:
            more = "more" if difference > 0 else "less"
            phrases.append(
                f"in {row.title!r}, {str(event)!r} is {points} {more} frequent than predicted "
                f"({p_value(p)})"
            )
    n_more = len(cells) - MOST_FINDINGS
    more_text = f"; and {count(n_more, 'more finding')} on the page" if n_more > 0 else ""
    return f"{capitalize('; '.join(phrases))}{more_text}."
