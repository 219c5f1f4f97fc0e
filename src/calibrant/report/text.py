"""Sentences of the report, for readers without a background in statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sklearn

from calibrant import __version__
from calibrant._core.phrases import capitalize
from calibrant.calibrators import CalibrationReport
from calibrant.report.evaluation import Evaluation
from calibrant.report.formatting import (
    has_bounds,
    p_value,
    percent,
    points,
)
from calibrant.report.records import (
    ALPHA,
    SMALL_CHANGE,
    SMALL_ERROR,
    Analysis,
    Effect,
    Gain,
    Miscalibration,
    Verdict,
)

if TYPE_CHECKING:
    from calibrant.tabular import Schema

# A smaller difference between confidence and accuracy is not called over- or underconfidence.
SMALL_EXCESS = 0.02

VERDICT_BADGES = {
    Verdict.CALIBRATED: "Yes",
    Verdict.NEARLY_CALIBRATED: "Nearly",
    Verdict.UNCLEAR: "Cannot tell",
    Verdict.MISCALIBRATED: "No",
}
EFFECT_BADGES = {
    Effect.IMPROVED: "Better",
    Effect.NEUTRAL: "No clear change",
    Effect.IMPAIRED: "Worse",
}


def summarize(analysis: Analysis) -> str:
    """Answer the three questions of the report, one per line."""
    return "\n".join(
        [
            "Can the probabilities be trusted without calibration? "
            f"{summarize_miscalibration(analysis)}",
            f"Does calibration improve them? {summarize_gain(analysis)}",
            f"Which model should I use? {summarize_recommendation(analysis)}",
        ]
    )


def summarize_miscalibration(analysis: Analysis) -> str:
    """Answer in one sentence whether the uncalibrated probabilities can be trusted."""
    verdicts = [model.miscalibration.verdict for model in analysis.models]
    if len(verdicts) == 1:
        return {
            Verdict.CALIBRATED: "Yes: the test finds no miscalibration beyond chance.",
            Verdict.NEARLY_CALIBRATED: "Nearly: they are miscalibrated, but only slightly.",
            Verdict.UNCLEAR: "Cannot tell: there are too few rows.",
            Verdict.MISCALIBRATED: "No: they are miscalibrated.",
        }[verdicts[0]]
    n_models, n_off = len(verdicts), verdicts.count(Verdict.MISCALIBRATED)
    if n_off == n_models:
        return f"No: {_all_of(n_models)} models are miscalibrated."
    if n_off:
        verb = "is" if n_off == 1 else "are"
        return f"Not for every model: {n_off} of {n_models} {verb} miscalibrated."
    n_unclear = verdicts.count(Verdict.UNCLEAR)
    if n_unclear == n_models:
        return "Cannot tell: there are too few rows."
    if n_unclear:
        return f"Cannot tell for {n_unclear} of {n_models} models: there are too few rows."
    if Verdict.NEARLY_CALIBRATED in verdicts:
        return "Nearly: any miscalibration is slight."
    return "Yes: the test finds no miscalibration beyond chance."


def describe_miscalibration(miscalibration: Miscalibration) -> str:
    """Describe how far the uncalibrated probabilities of a model are off."""
    verdict, p = miscalibration.verdict, p_value(miscalibration.p_value)
    return " ".join(
        [
            _describe_confidence(miscalibration),
            f"That probability is typically off by about {_error(miscalibration)}.",
            {
                Verdict.MISCALIBRATED: "A test across all classes finds miscalibration beyond "
                f"chance ({p}).",
                Verdict.NEARLY_CALIBRATED: "A test across all classes finds miscalibration beyond "
                f"chance ({p}), but the error is small.",
                Verdict.UNCLEAR: "A test across all classes finds no miscalibration beyond chance "
                f"({p}), but there are too few rows to rule out an error of more than "
                f"{points(SMALL_ERROR)}.",
                Verdict.CALIBRATED: "A test across all classes finds no miscalibration beyond "
                f"chance ({p}).",
            }[verdict],
        ]
    )


def _describe_confidence(miscalibration: Miscalibration) -> str:
    """Compare confidence and accuracy; name a difference only if the test finds one."""
    confidence, accuracy = miscalibration.confidence, miscalibration.accuracy
    excess = confidence - accuracy
    found = miscalibration.p_value < ALPHA and abs(excess) > SMALL_EXCESS
    if not found:
        start, contrast = "The", "and"
    else:
        start = "Too confident: the" if excess > 0 else "Not confident enough: the"
        contrast = "but"
    return (
        f"{start} most probable class gets a probability of {percent(confidence)} on average "
        f"{contrast} is correct {percent(accuracy)} of the time."
    )


def _error(miscalibration: Miscalibration) -> str:
    error = miscalibration.error
    bounds = ""
    if has_bounds(error):
        low, high = (f"{100 * end:.0f}" for end in (error.low, error.high))
        bounds = f" ({percent(error.level)} interval: {low} to {high})"
    return f"{points(error.estimate)}{bounds}"


def summarize_gain(analysis: Analysis) -> str:
    """Answer in one sentence whether calibration improves the probabilities."""
    effects = [model.gain.effect for model in analysis.models]
    n_models = len(effects)
    n_better, n_worse = effects.count(Effect.IMPROVED), effects.count(Effect.IMPAIRED)
    if n_models == 1:
        return {
            Effect.IMPROVED: "Yes, beyond chance.",
            Effect.NEUTRAL: f"Not clearly: {_explain_neutral(analysis.models[0].gain)}.",
            Effect.IMPAIRED: "No: it makes them worse, beyond chance.",
        }[effects[0]]
    if n_better == n_models:
        return f"Yes, for {_all_of(n_models)} models, beyond chance."
    if n_better:
        worse = f", but {n_worse} {_gets(n_worse)} worse" if n_worse else ""
        return f"Yes, for {n_better} of {n_models} models, beyond chance{worse}."
    if n_worse == n_models:
        return f"No: {_all_of(n_models)} models get worse, beyond chance."
    if n_worse:
        return f"No: {n_worse} of {n_models} models {_gets(n_worse)} worse, beyond chance."
    return "Not clearly: the changes are small or may be due to chance."


def describe_gain(gain: Gain) -> str:
    """Describe what calibration changes, and whether that may be chance."""
    uncalibrated, calibrated = (
        percent(np.exp(-interval.estimate))
        for interval in (gain.log_loss.uncalibrated, gain.log_loss.calibrated)
    )
    finding = {
        Effect.IMPROVED: "The improvement is beyond chance.",
        Effect.IMPAIRED: "The deterioration is beyond chance.",
        Effect.NEUTRAL: f"{capitalize(_explain_neutral(gain))}.",
    }[gain.effect]
    return (
        f"{finding} On average, the true class gets a probability of {uncalibrated} without "
        f"calibration and {calibrated} with it (geometric mean)."
    )


def _explain_neutral(gain: Gain) -> str:
    if gain.is_negligible:
        return "the change is too small to matter"
    if not gain.is_significant():
        return "the change may be due to chance"
    return "log loss and Brier score disagree"


def summarize_recommendation(analysis: Analysis) -> str:
    """Name the recommended model."""
    return f"{capitalize(analysis.best.label)}."


def describe_recommendation(analysis: Analysis) -> str:
    """Explain the recommendation and name models that are not clearly worse."""
    best, *others = analysis.ranking
    # Of every other model, the better one of uncalibrated and calibrated.
    rivals = {other.model: other for other in reversed(others) if other.model != best.model}
    sentences = []
    if rivals:
        sentences.append(f"It has the lowest log loss of the {len(rivals) + 1} models.")
        close = [other.label for other in others if other in rivals.values() and not other.is_worse]
        sentences.append(
            f"Not clearly worse: {'; '.join(close)}."
            if close
            else "Every other model is worse, beyond chance."
        )
    [same_model] = [other for other in others if other.model == best.model]
    if same_model.is_negligible:
        sentences.append("Calibration hardly changes its log loss.")
    elif best.calibrated:
        sentences.append("Calibration lowers its log loss.")
    else:
        sentences.append("Calibration does not lower its log loss.")
    report = analysis.evaluation.models[best.model].calibration_report
    if best.calibrated and report:
        sentences.append(_describe_calibration(report))
    return " ".join(sentences)


def _describe_calibration(report: CalibrationReport) -> str:
    """Name the calibrators, by decreasing weight."""
    by_weight = sorted(zip(report.weights, report.candidates, strict=True), reverse=True)
    names = [f"{name} ({percent(weight)})" for weight, name in by_weight if weight > 0]
    if len(names) > 1:
        return f"Its calibration is a weighted average of {', '.join(names)}."
    if report.weights[0] == 1.0:
        return "Its calibration leaves the probabilities nearly unchanged."
    return f"It is calibrated by {by_weight[0][1]}."


def describe_procedure(evaluation: Evaluation, schema: Schema | None) -> list[str]:
    """Describe how the numbers were computed, in paragraphs."""
    is_grouped = schema is not None and schema.groups is not None
    units = "Whole groups of rows" if is_grouped else "The rows"
    repeats = "" if evaluation.n_repeats == 1 else f", {evaluation.n_repeats} times"
    split = (
        f"{units} were split at random into {evaluation.n_folds} stratified folds{repeats} "
        f"(seed {evaluation.random_state})."
    )
    return [
        *(_describe_given(split) if schema is None else _describe_models(split)),
        "Scores are averages over rows and repeats. Their intervals are bootstrap intervals over "
        f"{'groups' if is_grouped else 'rows'}. Changes are tested by the corrected resampled "
        f"t-test over {evaluation.n_folds * evaluation.n_repeats} splits, which accounts for "
        "overlapping training sets (Nadeau and Bengio, 2003). Calibration counts as better or "
        "worse if log loss or Brier score changes significantly at the 5% level, the other score "
        f"does not contradict it, and at least one of them changes by {SMALL_CHANGE} or more.",
        "Reliability diagrams, calibration errors and the test across all classes (a kernel test "
        "with 999 resamples) use the first repeat, in which each row is predicted once. The "
        "intervals in the diagrams are Wilson intervals, one per point.",
        "Models are compared with the best one by the same t-test, with Holm's correction for "
        "multiple comparisons. Models that differ significantly, but by less than "
        f"{SMALL_CHANGE} in both scores, count as practically the same. The best of several "
        "models looks slightly better than it is, because it was selected on these rows.",
        "The most changed rows, the confusion matrix and the decisions use probabilities averaged "
        "over the repeats.",
        f"calibrant {__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}.",
    ]


def _describe_models(split: str) -> list[str]:
    return [
        f"{split} Each fold was predicted by models fitted on the other folds. Every probability "
        "in this report is therefore for a row that neither the model nor its calibration was "
        "fitted on.",
        "Missing numbers were replaced by the median and, except for naive Bayes, marked in an "
        "additional column. Numbers were standardized, and categories were one-hot encoded. All "
        "of this was learned from the training rows of each split.",
        "Uncalibrated: the probabilities of the model itself. Calibrated: the same model with "
        "calibrant's default calibration, fitted on held-out scores of the training rows.",
    ]


def _describe_given(split: str) -> list[str]:
    return [
        f"{split} Each fold was calibrated by a calibrator fitted on the other folds. Every "
        "calibrated probability in this report is therefore for a row that the calibrator was not "
        "fitted on.",
        "Uncalibrated: the given probabilities, assumed to be for rows that the model was not "
        "fitted on. Calibrated: the same probabilities after the chosen calibration.",
    ]


def _all_of(n: int) -> str:
    return "both" if n == 2 else f"all {n}"


def _gets(n: int) -> str:
    return "gets" if n == 1 else "get"
