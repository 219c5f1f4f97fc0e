"""Sentences of the foldable sections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibrant._core.phrases import join_phrases
from calibrant.decisions import DecisionCurve, PairThresholds
from calibrant.report.formatting import percent


def describe_advantage(curve: DecisionCurve) -> str:
    """Say at which thresholds probabilities are better than treating all or none."""
    better = np.flatnonzero(curve.advantage_low > 0)
    if len(better) == 0:
        return "At no threshold clearly better than treating all or none."
    runs = np.split(better, np.flatnonzero(np.diff(better) > 1) + 1)
    ranges = [
        percent(curve.threshold[run[0]])
        if len(run) == 1
        else f"{percent(curve.threshold[run[0]])} to {percent(curve.threshold[run[-1]])}"
        for run in runs
    ]
    return f"Better than treating all and none, beyond chance, at {join_phrases(ranges)}."


def describe_thresholds(
    pair: PairThresholds, decisions: Sequence[str], is_one_of_several: bool
) -> str:
    """Say which decision is cheapest at which probability of the second of two classes."""
    condition = (
        f"If only {str(pair.first)!r} and {str(pair.second)!r} are possible: "
        if is_one_of_several
        else ""
    )
    first, *others = (repr(decisions[each]) for each in pair.decision)
    if not others:
        return f"{condition}{first} is always cheapest."
    steps = [
        f"{decision} from {percent(threshold, 1)}"
        for decision, threshold in zip(others, pair.threshold, strict=True)
    ]
    return (
        f"{condition}{first} is cheapest at low probabilities of {str(pair.second)!r}, "
        f"{join_phrases(steps)} on."
    )
