"""The methods paragraph on a validation, generated from what was done."""

from __future__ import annotations

from collections.abc import Sequence

from calibrant._core.phrases import count, join_phrases
from calibrant.report.methods import (
    MethodsParagraph,
    cite,
    cited_keys,
    describe_classes,
    describe_measure_intervals,
    describe_measures,
    describe_software,
)
from calibrant.validation.records import ValidationResult


def describe_methods(result: ValidationResult, history: Sequence[str] = ()) -> MethodsParagraph:
    """Describe how models were validated, for a paper.

    Parameters
    ----------
    result : ValidationResult
        The validations.
    history : sequence of str, default=()
        Sentences on earlier updates of the model.

    Returns
    -------
    MethodsParagraph
        The paragraph and its references.
    """
    first = result.models[0]
    is_grouped = result.n_groups < result.n_rows
    groups = f" in {count(result.n_groups, 'group')}" if is_grouped else ""
    classes = describe_classes(
        first.classes, [round(each) for each in first.performance.class_count]
    )
    names = join_phrases([model.name for model in result.models])
    sentences = [
        f"The probabilities of {names} were evaluated on {count(result.n_rows, 'new row')}{groups} "
        f"of {classes}. These rows are assumed not to have been used to fit the model.",
        *([] if not history else ["The model had been updated before.", *history]),
        describe_measures(first.assessment),
        "Whether the probabilities are calibrated was tested by the kernel test and by a "
        "likelihood-ratio test of recalibration, together at the 5% level, and the update that the "
        "rows call for was chosen by a closed testing procedure (Vergouwe et al., 2017).",
        *_describe_comparisons(result),
        describe_measure_intervals(first.assessment, is_grouped=is_grouped),
        describe_software(),
    ]
    return cite(sentences, [*cited_keys(first.assessment), "vergouwe"])


def _describe_comparisons(result: ValidationResult) -> list[str]:
    sentences = []
    if any(model.scores for model in result.models):
        sentences.append(
            "Scores were compared with those of held-out rows at training by Welch's t-tests with "
            "Holm's correction."
        )
    if any(model.frequencies is not None for model in result.models):
        sentences.append(
            "Class frequencies were compared with those of training by a permutation test."
        )
    if result.difference is not None:
        sentences.append("The models were compared by paired t-tests of log loss and Brier score.")
    return sentences
