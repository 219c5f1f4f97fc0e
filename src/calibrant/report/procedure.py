"""How the numbers of a report were computed, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sklearn

from calibrant import __version__
from calibrant.report.effects import SMALL_CHANGE
from calibrant.report.evaluation import Evaluation
from calibrant.report.verdicts import SMALL_ERROR

if TYPE_CHECKING:
    from calibrant.tabular import Schema

PREPROCESSING = (
    "Missing numbers were replaced by the median and, except for naive Bayes, marked in an "
    "additional column. Numbers were standardized, and categories were one-hot encoded. All of "
    "this was learned from the training rows of each split."
)


def describe_procedure(evaluation: Evaluation, schema: Schema | None) -> list[str]:
    """Describe how the numbers were computed, in paragraphs."""
    is_grouped = evaluation.is_grouped
    units = "Whole groups of rows" if is_grouped else "The rows"
    repeats = "" if evaluation.n_repeats == 1 else f", {evaluation.n_repeats} times"
    split = (
        f"{units} were split at random into {evaluation.n_folds} stratified folds{repeats} "
        f"(seed {evaluation.random_state})."
    )
    return [
        *(_describe_given(split) if evaluation.is_given else _describe_models(split, schema)),
        "The verdict on probabilities depends on a test of calibration across all classes and on "
        "the size of the error: yes if the test finds nothing and the error is at most "
        f"{SMALL_ERROR:.0%}, even at the upper end of its interval; nearly if the test finds a "
        "miscalibration that small; no if it finds a larger one; cannot tell otherwise. Off on "
        "average: the error of the probability of the most probable class, root mean square, or "
        "the largest difference between the mean probability and the frequency of a class, if "
        "that is larger and beyond chance. At most: the upper end of the interval.",
        "Guessing means predicting the class frequencies among the training rows, and always "
        "naming the most common class.",
        "Scores are averages over rows and repeats. Their intervals are bootstrap intervals over "
        f"{'groups' if is_grouped else 'rows'}. Changes are tested by the corrected resampled "
        f"t-test over {evaluation.n_folds * evaluation.n_repeats} splits, which accounts for "
        "overlapping training sets (Nadeau and Bengio, 2003). Calibration counts as better or "
        "worse if log loss or Brier score changes significantly at the 5% level, the other score "
        f"does not contradict it, and at least one of them changes by {SMALL_CHANGE} or more.",
        "Reliability diagrams, calibration errors, the measures of the foldable sections and the "
        "test across all classes (a kernel test with 999 resamples) use the first repeat, in which "
        "each row is predicted once. The intervals in the diagrams are Wilson intervals, one per "
        "point.",
        describe_intervals(is_grouped=is_grouped, is_given=evaluation.is_given),
        "Models are compared with the best one by the same t-test, with Holm's correction for "
        "multiple comparisons. Models that differ significantly, but by less than "
        f"{SMALL_CHANGE} in both scores, count as practically the same. The best of several "
        "models looks slightly better than it is, because it was selected on these rows.",
        "The most changed rows, the mistakes and the decisions use probabilities averaged "
        "over the repeats.",
        f"calibrant {__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}.",
    ]


def describe_intervals(*, is_grouped: bool, is_given: bool) -> str:
    """Say what the intervals of the foldable sections account for."""
    models = (
        ""
        if is_given
        else " They treat the models of the folds as one model, and do not account for how models "
        "fitted on other rows would differ."
    )
    groups = (
        " Except for those of subgroups, they treat rows of one group as independent, so they are "
        "too narrow if these are alike."
        if is_grouped
        else ""
    )
    return (
        "The intervals of the foldable sections account for chance in which rows were drawn."
        f"{models}{groups}"
    )


def _describe_models(split: str, schema: Schema | None) -> list[str]:
    return [
        f"{split} Each fold was predicted by models fitted on the other folds. Every probability "
        "in this report is therefore for a row that neither the model nor its calibration was "
        "fitted on.",
        *([] if schema is None else [PREPROCESSING]),
        "Uncalibrated: the probabilities of the model itself. Calibrated: the same model with its "
        "calibration, fitted on held-out scores of the training rows.",
    ]


def _describe_given(split: str) -> list[str]:
    return [
        f"{split} Each fold was calibrated by a calibrator fitted on the other folds, unless the "
        "model came with its own calibration. Every calibrated probability in this report is "
        "therefore for a row that the calibration was not fitted on.",
        "Uncalibrated: the given probabilities, assumed to be for rows that the model was not "
        "fitted on. Calibrated: the same probabilities after calibration.",
    ]
