"""Sentences on a validation, for readers without a background in statistics."""

from __future__ import annotations

from collections.abc import Sequence

from calibrant._core.phrases import count
from calibrant.calibrators import UpdateChoice
from calibrant.report import Effect, Tendency, Verdict
from calibrant.report.formatting import (
    has_bounds,
    number,
    p_value,
    percent,
    points,
    points_up,
    signed,
)
from calibrant.report.procedure import describe_intervals
from calibrant.report.subgroup_text import answer_subgroups
from calibrant.report.text import answer_trust
from calibrant.report.verdicts import NO_ERROR
from calibrant.validation.records import (
    SMALL_DIFFERENCE,
    Cause,
    ScoreChange,
    Validation,
    ValidationResult,
)

# How an update is named where it has not been made yet.
UPDATES = {
    UpdateChoice.INTERCEPTS: "a correction for class frequencies",
    UpdateChoice.SLOPE: "a correction for class frequencies and confidence",
    UpdateChoice.FULL: "full recalibration",
}


def summarize(result: ValidationResult) -> str:
    """Answer the questions of the page, one per line."""
    lines = []
    for model in result.models:
        start = f"{model.name}: " if len(result.models) > 1 else ""
        lines += [
            f"{start}Are the probabilities right? {answer_right(model)}",
            f"{start}Have they changed since training? {answer_change(model)}",
            f"{start}Is it the model or the mix of classes? {answer_cause(model)}",
            *(f"{start}{each}" for each in answer_subgroups(model.assessment)),
        ]
    if result.difference is not None:
        lines.append(f"Which one is better? {answer_difference(result)}")
    return "\n".join(lines)


def answer_right(model: Validation) -> str:
    """Answer in one or two sentences whether the probabilities are right."""
    return answer_trust(model.miscalibration)


def describe_right(model: Validation) -> str:
    """Say how far the probabilities are off."""
    found = model.miscalibration
    contrast = "and" if found.tendency is Tendency.NEITHER else "but"
    return (
        f"The most probable class gets a probability of {percent(found.confidence)} on average "
        f"{contrast} is correct {percent(found.accuracy)} of the time. {_describe_error(model)} "
        f"Two tests together: {p_value(found.p_value)}."
    )


def _describe_error(model: Validation) -> str:
    """Say how large the error is, if the rows tell."""
    found = model.miscalibration
    bounds = ""
    if has_bounds(found.error):
        low, high = f"{100 * found.error.low:.0f}", points_up(found.largest_error)
        bounds = f" ({percent(found.error.level)} interval: {low} to {high} points)"
    if found.typical_error >= NO_ERROR:
        return (
            f"The probabilities are off by about {points(found.typical_error)} on average{bounds}."
        )
    if model.is_significant:
        return (
            "The tests consider the probabilities of all classes; the error in that of the most "
            f"probable class alone is too small to be measured{bounds}."
        )
    return f"The error of that probability is too small to be measured{bounds}."


def answer_change(model: Validation) -> str:
    """Answer in one sentence what has changed since training."""
    if model.before is None:
        if model.frequencies is None:
            return "Unknown: nothing was recorded when the model was fitted."
        has = "has" if model.has_new_frequencies else "has not"
        return (
            "Unknown: scores were not recorded when the model was fitted. The mix of classes "
            f"{has} changed beyond chance."
        )
    score = _answer_scores(model.scores)
    if score is not None:
        return score
    others = []
    if model.has_new_frequencies:
        others.append("the mix of classes")
    names = _names([each for each in model.by_class if each.is_significant])
    if names:
        others.append(f"what the model says about rows of {names}")
    first = _spell(model.scores[0])
    if others:
        return f"In part: {' and '.join(others)} changed beyond chance, but no score did: {first}."
    return f"Not beyond chance: {first}."


def _answer_scores(scores: Sequence[ScoreChange]) -> str | None:
    """Say how the scores have changed; None if none of them has, beyond chance."""
    # The scores are ordered by how much they say about probabilities. The last one has no better
    # or worse of its own: it may grow while all others improve.
    *directed, overconfidence = scores
    worse = [_spell(score) for score in directed if _is_worse(score)]
    better = [_spell(score) for score in directed if _is_better(score)]
    if worse and better:
        return f"Yes, beyond chance, for better and worse: {better[0]}, but {worse[0]}."
    if worse:
        return f"Yes, for the worse, beyond chance: {worse[0]}."
    if better:
        return f"Yes, for the better, beyond chance: {better[0]}."
    return (
        f"Yes, beyond chance: {_spell(overconfidence)}." if overconfidence.is_significant else None
    )


def describe_change(model: Validation) -> str:
    """Explain what a change in the scores means, given the verdict."""
    if model.before is None:
        return (
            "Model files record how well the model did on held-out rows. Files of version 0.1.0, "
            "models fitted without calibration and tables of probabilities have no such record."
        )
    is_worse = any(map(_is_worse, model.scores[:-1]))
    if is_worse and not model.is_significant:
        return (
            "The new rows are harder to predict than the training rows, but they do not contradict "
            "the probabilities, which may already be less certain for these rows."
        )
    if is_worse:
        return "At least part of this is because the probabilities are off."
    return (
        f"Then: {count(model.before.n_rows, 'row')} of training, or of the last update, each "
        f"predicted while it was held out. Now: {count(model.performance.n_rows, 'new row')}."
    )


def answer_cause(model: Validation) -> str:
    """Answer in one sentence whether the model or the mix of classes has changed."""
    mix = describe_mix(model)
    if model.cause is Cause.CLASSES:
        return f"The mix of classes: {mix}."
    if model.cause is Cause.UNKNOWN:
        return (
            "Unknown: a correction for class frequencies would suffice, but those of training are "
            "not recorded."
        )
    if model.cause is Cause.MODEL:
        if model.has_new_frequencies:
            return f"The model; the mix of classes has changed too: {mix}."
        return "The model." if model.has_changed else "The model, perhaps from the start."
    if model.has_new_frequencies:
        return f"The mix of classes has changed ({mix}), but the model is not contradicted."
    return _answer_no_cause(model)


def _answer_no_cause(model: Validation) -> str:
    """Answer the question if neither the probabilities nor the mix of classes are off."""
    if model.before is None:
        return "Unknown, but the rows do not contradict the probabilities."
    if model.verdict is Verdict.UNCLEAR:
        return "Cannot tell: the rows do not contradict the probabilities, but they are few."
    if model.has_changed:
        return (
            "Neither, as far as the rows tell: they differ from those of training, but do not "
            "contradict the probabilities."
        )
    return "Neither has changed beyond chance."


def describe_cause(model: Validation) -> str:
    """Give the reasons for the answer about the model and the mix of classes."""
    sentences = []
    if model.frequencies is not None:
        change = "differ" if model.has_new_frequencies else "do not differ"
        sentences.append(
            f"The class frequencies {change} from those of training beyond chance "
            f"({p_value(model.frequencies.p_value)})."
        )
    tests = {test.candidate: test for test in model.update.tests}
    corrected = tests.get(UpdateChoice.INTERCEPTS)
    if model.is_significant and corrected is not None:
        fits = corrected.p_value >= model.update.alpha
        sentences.append(
            "Corrected for class frequencies, the probabilities "
            f"{'fit' if fits else 'still do not fit'} the new rows ({p_value(corrected.p_value)})."
        )
    if model.cause is Cause.MODEL and model.before is not None and not model.has_changed:
        sentences.append(
            "Nothing has changed since training beyond chance, so the probabilities may have been "
            "off then already, by too little for the training rows to tell."
        )
    elif (
        model.cause is Cause.MODEL
        and model.has_changed
        and model.update.choice == UpdateChoice.INTERCEPTS
    ):
        sentences.append(
            "The model now predicts some classes too often and others too rarely, although they "
            "are as frequent as before: its features or their meaning have changed."
        )
    changed = [each for each in model.by_class if each.is_significant]
    if changed:
        sentences.append(
            "A new mix of classes does not change what the model says about the rows of one class, "
            f"but this has changed beyond chance for {_names(changed)}."
        )
    return " ".join(sentences)


def describe_mix(model: Validation) -> str:
    """Say how the frequency of the class that changed most has changed."""
    if model.frequencies is None:
        return ""
    k = model.frequencies.most_changed
    old, new = model.frequencies.frequency(k)
    name = repr(str(model.classes[k]))
    return f"{name} made up {percent(old)} of the rows then and makes up {percent(new)} now"


def answer_advice(model: Validation) -> str:
    """Say what to do."""
    if model.calls_for_update:
        condition = {
            Verdict.NEARLY_CALIBRATED: " if small errors matter",
            Verdict.UNCLEAR: ", or collect more rows first",
        }.get(model.verdict, "")
        return (
            f"Update the probabilities{condition}: the rows call for "
            f"{UPDATES[model.update.choice]}."
        )
    if model.verdict in (Verdict.CALIBRATED, Verdict.NEARLY_CALIBRATED):
        return "Keep using the probabilities."
    if model.verdict is Verdict.UNCLEAR:
        return "Collect more rows with known classes, and validate again."
    return "Fit the model again, on old and new rows."


def describe_advice(model: Validation) -> str:
    """Say more about what to do."""
    if model.calls_for_update:
        return (
            "An update keeps the model and corrects its probabilities. Validate the result on rows "
            "other than these. With many new rows, fitting the model again may be better."
        )
    if model.verdict is Verdict.MISCALIBRATED:
        return "No simple correction explains how the probabilities are off."
    return ""


def answer_difference(result: ValidationResult) -> str:
    """Say which of two models is better."""
    difference = result.difference
    if difference is None:
        return ""
    first, second = (model.name for model in result.models)
    if difference.is_negligible:
        return (
            f"Neither: their log losses and Brier scores differ by less than {SMALL_DIFFERENCE}, "
            "which is negligible."
        )
    loss = ", ".join(
        f"{name} {signed(change.estimate)} ({p_value(change.p_value)})"
        for name, change in (
            ("log loss", difference.log_loss),
            ("Brier score", difference.brier_score),
        )
    )
    return {
        Effect.IMPROVED: f"{second}, beyond chance: {loss}.",
        Effect.NEUTRAL: f"Neither is clearly better: {loss} from {first} to {second}.",
        Effect.IMPAIRED: f"{first}, beyond chance: {loss} from {first} to {second}.",
    }[difference.effect]


def describe_procedure(result: ValidationResult) -> list[str]:
    """Describe how the numbers were computed, in paragraphs."""
    grouped = result.n_groups < result.n_rows
    rows = "one row of each group" if grouped else "the rows"
    return [
        "All numbers assume that the new rows were not used to fit the model.",
        f"Two exact tests ask whether {rows} could have been drawn from the probabilities: a "
        "kernel test against any miscalibration, and a likelihood-ratio test against changed class "
        "frequencies and confidence. The p-value of both together is twice the smaller one. The "
        "verdict follows from it and from the upper end of the interval of the error, as in the "
        "report: no if the p-value is below 5% and the error may exceed 5 percentage points, "
        "nearly if only the former holds, cannot tell if only the latter holds or the error is too "
        "small to be measured, and yes otherwise.",
        "Scores are compared with those of held-out rows at training by Welch's t-test, with "
        "Holm's correction. The scores of training are slightly optimistic, because the weights of "
        "the calibrators were fitted on the same rows. In simulations with models fitted on 60 "
        "rows, 10% to 20% of unchanged models seemed changed, rather than 5%.",
        "Class frequencies are compared by a permutation test: of groups, if the training rows "
        "were grouped and calibrated, and otherwise of rows, as if those of training were "
        "independent.",
        describe_intervals(is_grouped=grouped, is_given=True),
        "The update is chosen by a closed testing procedure (Vergouwe et al., 2017): the first of "
        "no update, class frequencies, and class frequencies and confidence that a "
        "likelihood-ratio test with simulated p-values does not reject, or else full "
        "recalibration. Its level is 2.5%, half of that of the verdict, which has two tests.",
    ]


def _is_worse(score: ScoreChange) -> bool:
    return score.is_significant and _deterioration(score) > 0


def _is_better(score: ScoreChange) -> bool:
    return score.is_significant and _deterioration(score) < 0


def _deterioration(score: ScoreChange) -> float:
    """Return by how much a score got worse."""
    if score.name == "accuracy":
        return -score.change.estimate
    return score.change.estimate


def _spell(score: ScoreChange) -> str:
    values = score.before.estimate, score.now.estimate
    if score.name == "accuracy":
        then, now = map(percent, values)
    elif score.is_percentage:
        then, now = (f"{signed(value, is_percentage=True)} points" for value in values)
    else:
        then, now = map(number, values)
    return f"{score.name} {then} then, {now} now"


def _names(scores: Sequence[ScoreChange]) -> str:
    shown = [repr(score.name) for score in scores[:5]]
    more = len(scores) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
