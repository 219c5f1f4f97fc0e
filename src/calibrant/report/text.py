"""Numbers -> plain sentences."""

from __future__ import annotations

import numpy as np
import sklearn

from calibrant import __version__
from calibrant.calibrators.report import CalibrationReport
from calibrant.report.evaluation import Evaluation
from calibrant.report.records import (
    LEVEL,
    SMALL_ERROR,
    Effect,
    Estimate,
    Fault,
    Findings,
    Gain,
    Trust,
)
from calibrant.tabular.columns import Schema

NBSP = "\N{NO-BREAK SPACE}"
# Points of percent by which a model may be off on average before it is called too sure.
SLIGHT = 0.02

TRUST_WORDS = {
    Trust.yes: "Yes",
    Trust.nearly: "Nearly",
    Trust.unclear: "Cannot tell",
    Trust.no: "No",
}
EFFECT_WORDS = {Effect.better: "Better", Effect.same: "No clear change", Effect.worse: "Worse"}


def percent(share: float, digits: int = 0) -> str:
    """Share as percent; what is not quite 0 or 100 is not shown as such."""
    least = 10.0 ** -(digits + 2)
    if 0 < share < least / 2:
        return f"<{NBSP}{100 * least:.{digits}f}{NBSP}%"
    if 1 - least / 2 < share < 1:
        return f">{NBSP}{100 * (1 - least):.{digits}f}{NBSP}%"
    return f"{100 * share:.{digits}f}{NBSP}%"


def number(value: float) -> str:
    """Three decimals; a minus that is one."""
    text = f"{value:.3f}"
    return text.replace("-", "\N{MINUS SIGN}") if float(text) else "0.000"


def signed(value: float, *, is_share: bool = False) -> str:
    """Change, with its sign; shares in points of percent."""
    text = f"{100 * value:+.1f}" if is_share else f"{value:+.3f}"
    return text.replace("-", "\N{MINUS SIGN}")


def p_value(value: float) -> str:
    """Return a p-value, with a third digit where it matters; a thousandth is the least shown."""
    if value <= 0.001:
        return f"p{NBSP}\N{LESS-THAN OR EQUAL TO}{NBSP}0.001"
    return f"p{NBSP}={NBSP}{value:.2f}" if value >= 0.0995 else f"p{NBSP}={NBSP}{value:.3f}"


def span(estimate: Estimate) -> str:
    """Return an interval of shares in brackets, if there is one."""
    if np.isnan(estimate.low):
        return ""
    return f" (95{NBSP}% interval {100 * estimate.low:.0f} to {100 * estimate.high:.0f})"


def say_fault(fault: Fault) -> str:
    """Say how far off the probabilities of a model are."""
    excess = fault.confidence - fault.accuracy
    lead = (
        "Too sure of itself: i"
        if excess > SLIGHT
        else "Not sure enough: i"
        if excess < -SLIGHT
        else "I"
    )
    said = (
        f"{lead}ts most probable class gets {percent(fault.confidence)} on average and is right "
        f"{percent(fault.accuracy)} of the time. Typical error of that probability: "
        f"{100 * fault.error.value:.0f} points{span(fault.error)}. "
    )
    p = p_value(fault.p_value)
    return (
        said
        + {
            Trust.no: f"A test of all classes finds more fault than chance explains ({p}).",
            Trust.nearly: f"A test of all classes finds a fault ({p}), but it is small.",
            Trust.unclear: f"A test of all classes finds no fault beyond chance ({p}), but with so "
            f"few rows the error may be above {100 * SMALL_ERROR:.0f} points.",
            Trust.yes: f"A test of all classes finds no fault beyond chance ({p}).",
        }[fault.trust]
    )


def say_gain(gain: Gain) -> str:
    """Say what calibration brings, and whether it may be luck."""
    before, after = (
        percent(np.exp(-own.value)) for own in (gain.log_loss.before, gain.log_loss.after)
    )
    return {
        Effect.better: "More than luck.",
        Effect.worse: "More than bad luck.",
        Effect.same: "No change to speak of: it may be luck, or is too small to matter.",
    }[gain.effect] + (
        f" What turned out true had been given {before} before and {after} after (geometric mean)."
    )


def answer_trust(findings: Findings) -> str:
    """Answer the first question in a sentence."""
    said = [model.fault.trust for model in findings.models]
    if len(said) == 1:
        return {
            Trust.yes: "Yes: no fault beyond chance.",
            Trust.nearly: "Nearly: they are off, but by little.",
            Trust.unclear: "Cannot tell: there are too few rows to be sure either way.",
            Trust.no: "No: they are off by more than chance explains.",
        }[said[0]]
    n_off = said.count(Trust.no)
    if n_off == len(said):
        return f"No: the probabilities of {_all(n_off)} models are off."
    if n_off:
        return f"Not all: the probabilities of {n_off} of {len(said)} models are off."
    if Trust.unclear in said:
        return "No fault found, but there are too few rows to be sure of all models."
    return "Yes: at most small faults."


def answer_gain(findings: Findings) -> str:
    """Answer the second question in a sentence."""
    said = [model.gain.effect for model in findings.models]
    n_better, n_worse = said.count(Effect.better), said.count(Effect.worse)
    if len(said) == 1:
        return {
            Effect.better: "Yes, and by more than luck.",
            Effect.same: "Not for sure: the change may be luck.",
            Effect.worse: "No: they get worse.",
        }[said[0]]
    if n_better == len(said):
        return f"Yes, for {_all(n_better)} models, by more than luck."
    if n_better:
        tail = f"; {n_worse} {'gets' if n_worse == 1 else 'get'} worse" if n_worse else ""
        return f"Yes for {n_better} of {len(said)} models, by more than luck{tail}."
    return "No: some get worse." if n_worse else "Not for sure: the changes may be luck."


def _all(n: int) -> str:
    return "both" if n == 2 else f"all {n}"


def answer_choice(findings: Findings) -> str:
    """Answer the third question in a sentence."""
    return f"{sentence(findings.name(findings.best))}."


def say_choice(findings: Findings) -> str:
    """Say why, and what would do as well."""
    best, *others = findings.contenders
    said = f"It has the lowest log loss of the {len(findings.contenders)} tried"
    # Of each other model, the better of the two: as it is or calibrated.
    rivals = {own.model: own for own in reversed(others) if own.model != best.model}
    close = [
        findings.name(own) for own in others if own in rivals.values() and own.p_value >= LEVEL
    ]
    if close:
        said += f". Not clearly worse: {'; '.join(close)}"
    elif rivals:
        said += ", by more than luck"
    choice = findings.models[best.model].model.choice
    if not best.calibrated:
        return f"{said}. Calibration brings nothing here."
    return f"{said}. How it is calibrated: {_mix(choice)}." if choice else f"{said}."


def _mix(choice: CalibrationReport) -> str:
    """Name the calibrators and their weights, largest first."""
    order = sorted(zip(choice.weights, choice.candidates, strict=True), reverse=True)
    return ", ".join(f"{name} ({percent(weight)})" for weight, name in order if weight > 0)


def say_method(evaluation: Evaluation, schema: Schema | None) -> list[str]:
    """Say how the numbers came about, a paragraph each."""
    dealt = "Groups of rows" if schema is not None and schema.groups is not None else "The rows"
    n_splits = evaluation.n_folds * evaluation.n_repeats
    said = [
        f"{dealt} were dealt into {evaluation.n_folds} folds with equal shares of the classes, as "
        f"far as possible, {evaluation.n_repeats} times (seed {evaluation.seed}). "
        + (
            "Each fold was calibrated from the others: every calibrated probability here is of a "
            "row that the calibration had not seen."
            if schema is None
            else "Each fold was predicted from the others: every probability here is of a row that "
            "neither the model nor its calibration had seen."
        ),
        "As it is: the probabilities that were given, taken to be of rows that the model had not "
        "seen. Calibrated: the same probabilities, after the calibrator that was asked for."
        if schema is None
        else "As it is: the model's own probabilities. Calibrated: the same model, calibrated by "
        "calibrant's default on scores of training rows that it had not seen.",
        "Scores are means over rows and repeats, with bootstrap intervals over "
        f"{'groups' if dealt[0] == 'G' else 'rows'}. Changes are tested by the corrected "
        f"resampled t-test of {n_splits} splits, which allows for their overlap (Nadeau and "
        "Bengio, 2003); better or worse is said where one of log loss and Brier score changes "
        "significantly at 5 % and the other does not contradict it.",
        "Reliability, calibration errors and the test of all classes (a kernel test with 999 "
        "resamples) are of the first repeat, in which each row comes once. "
        "Intervals in the diagrams are Wilson's, of each point by itself.",
        "Models are compared with the best by the same t-test, with Holm's adjustment. The best of "
        "several looks a little better than it is.",
        "Rows that changed, confusion and decisions use the mean of the repeats.",
    ]
    if schema is not None:
        said.insert(
            1,
            "Missing numbers got the median and, but for naive Bayes, a column that marks them; "
            "numbers were scaled; "
            "categories became columns of 0 and 1. All of it was learned from the training rows of "
            "each fold alone.",
        )
    return [
        *said,
        f"calibrant {__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}.",
    ]


def say_briefly(findings: Findings) -> str:
    """Answer the three questions in as many lines."""
    return "\n".join(
        [
            f"Can the probabilities be trusted as they are? {answer_trust(findings)}",
            f"Do they get better with calibration? {answer_gain(findings)}",
            f"Which model should I use? {answer_choice(findings)}",
        ]
    )


def sentence(text: str) -> str:
    """Begin with a capital letter, and leave the rest as it is."""
    return text[:1].upper() + text[1:]
