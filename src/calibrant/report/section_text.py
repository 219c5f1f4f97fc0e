"""Sentences of the foldable sections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibrant._core.phrases import join_phrases
from calibrant._core.typing import BoolArray
from calibrant.decisions import DecisionCurve, PairThresholds
from calibrant.report.formatting import percent


def describe_advantage(curve: DecisionCurve) -> str:
    """Say at which thresholds probabilities are better or worse than treating all or none."""
    better = _list_thresholds(curve, curve.advantage_low > 0)
    worse = _list_thresholds(curve, curve.advantage_high < 0)
    sentences = [
        f"Better than treating all and none, beyond chance, at {better}."
        if better
        else "At no threshold clearly better than treating all or none."
    ]
    if worse:
        sentences.append(f"Worse than one of them, beyond chance, at {worse}.")
    return " ".join(sentences)


def _list_thresholds(curve: DecisionCurve, chosen: BoolArray) -> str:
    """List ranges of thresholds."""
    positions = np.flatnonzero(chosen)
    if len(positions) == 0:
        return ""
    runs = np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1)
    ranges = [
        percent(curve.threshold[run[0]])
        if len(run) == 1
        else f"{percent(curve.threshold[run[0]])} to {percent(curve.threshold[run[-1]])}"
        for run in runs
    ]
    return join_phrases(ranges)


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
