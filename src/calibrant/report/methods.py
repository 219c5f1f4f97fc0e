"""The methods paragraph for a paper, generated from what was done."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
import sklearn

from calibrant import __version__
from calibrant._core.phrases import capitalize, count, join_phrases
from calibrant._core.records import Record
from calibrant.report.assessment import Assessment
from calibrant.report.evaluation import MOST_CLASSES, Evaluation
from calibrant.report.formatting import percent
from calibrant.report.procedure import PREPROCESSING
from calibrant.report.records import Analysis
from calibrant.report.source import Source

REFERENCES = {
    "austin": "Austin PC, Steyerberg EW. The Integrated Calibration Index (ICI) and related "
    "metrics for quantifying the calibration of logistic regression models. Statistics in "
    "Medicine 2019;38(21).",
    "cox": "Cox DR. Two further applications of a model for binary regression. Biometrika 1958;45.",
    "delong": "DeLong ER, DeLong DM, Clarke-Pearson DL. Comparing the areas under two or more "
    "correlated receiver operating characteristic curves: a nonparametric approach. Biometrics "
    "1988;44.",
    "hand": "Hand DJ, Till RJ. A simple generalisation of the area under the ROC curve for "
    "multiple class classification problems. Machine Learning 2001;45.",
    "nadeau": "Nadeau C, Bengio Y. Inference for the generalization error. Machine Learning "
    "2003;52.",
    "van calster 2012": "Van Calster B, Van Belle V, Vergouwe Y, Timmerman D, Van Huffel S, "
    "Steyerberg EW. Extending the c-statistic to nominal polytomous outcomes: the Polytomous "
    "Discrimination Index. Statistics in Medicine 2012;31(23).",
    "van calster 2016": "Van Calster B, Nieboer D, Vergouwe Y, De Cock B, Pencina MJ, Steyerberg "
    "EW. A calibration hierarchy for risk models was defined: from utopia to empirical data. "
    "Journal of Clinical Epidemiology 2016;74.",
    "van hoorde 2014": "Van Hoorde K, Vergouwe Y, Timmerman D, Van Huffel S, Steyerberg EW, Van "
    "Calster B. Assessing calibration of multinomial risk prediction models. Statistics in "
    "Medicine 2014;33(15).",
    "van hoorde 2015": "Van Hoorde K, Van Huffel S, Timmerman D, Bourne T, Van Calster B. A "
    "spline-based tool to assess and visualize the calibration of multiclass risk predictions. "
    "Journal of Biomedical Informatics 2015;54.",
    "vergouwe": "Vergouwe Y, Nieboer D, Oostenbrink R, Debray TPA, Murray GD, Kattan MW, et al. A "
    "closed testing procedure to select an appropriate method for updating prediction models. "
    "Statistics in Medicine 2017;36(28).",
    "vickers": "Vickers AJ, Elkin EB. Decision curve analysis: a novel method for evaluating "
    "prediction models. Medical Decision Making 2006;26(6).",
    "widmann": "Widmann D, Lindsten F, Zachariah D. Calibration tests in multi-class "
    "classification: A unifying framework. NeurIPS 2019.",
}


@dataclass(frozen=True)
class MethodsParagraph(Record):
    """The methods paragraph of a paper.

    Attributes
    ----------
    paragraph : str
        What was done.
    references : tuple of str
        The publications that it cites, sorted.
    """

    paragraph: str
    references: tuple[str, ...]


def describe_methods(analysis: Analysis, source: Source) -> MethodsParagraph:
    """Describe how models were fitted and evaluated, for a paper.

    Parameters
    ----------
    analysis : Analysis
        The numbers of the report.
    source : Source
        The data behind them.

    Returns
    -------
    MethodsParagraph
        The paragraph and its references.
    """
    evaluation = analysis.evaluation
    assessment = analysis.models[0].assessment
    subject = "Models" if len(analysis.models) > 1 else "Uncalibrated and calibrated probabilities"
    keys = [*cited_keys(assessment), "nadeau"]
    sentences = [
        *_describe_data(evaluation, source),
        *_describe_models(evaluation),
        describe_measures(assessment),
        f"{subject} were compared by log loss and Brier score, with {_level(assessment)} bootstrap "
        f"intervals over {'groups' if evaluation.is_grouped else 'rows'} and corrected resampled "
        "t-tests over the splits (Nadeau and Bengio, 2003).",
        describe_measure_intervals(assessment, is_grouped=evaluation.is_grouped),
        describe_software(),
    ]
    return cite(sentences, keys)


def cite(sentences: Sequence[str], keys: Sequence[str]) -> MethodsParagraph:
    """Return sentences as a paragraph, with the publications of the given keys."""
    return MethodsParagraph(" ".join(sentences), tuple(sorted(REFERENCES[key] for key in keys)))


def cited_keys(assessment: Assessment) -> list[str]:
    """Return the keys of the publications that `describe_measures` cites."""
    keys = ["austin", "cox", "delong", "van calster 2016", "vickers", "widmann"]
    keys += [] if len(assessment.discrimination.classes) == 2 else ["hand", "van calster 2012"]
    return keys + ([] if assessment.multinomial is None else ["van hoorde 2014", "van hoorde 2015"])


def describe_measures(assessment: Assessment) -> str:
    """Name the measures, with their publications."""
    has_several = len(assessment.discrimination.classes) > 2
    each = " of each class against all others" if has_several else ""
    calibration = [
        "calibration in the large",
        "calibration intercept and slope (Cox, 1958; Van Calster et al., 2016)",
        "the ratio of observed to expected events",
        "smooth calibration curves with the integrated calibration index (Austin and Steyerberg, "
        "2019)",
    ]
    across = ["a kernel test (Widmann et al., 2019)"]
    if assessment.multinomial is not None:
        across = [
            "the multinomial recalibration framework (Van Hoorde et al., 2014)",
            "the estimated calibration index (Van Hoorde et al., 2015)",
            *across,
        ]
    pairs = ""
    if has_several:
        pairs = (
            ", the M-index (Hand and Till, 2001) and the polytomous discrimination index (Van "
            "Calster et al., 2012)"
        )
    costs = "" if assessment.costs is None else " and the mean costs of decision rules"
    return (
        f"Calibration{each} was assessed by {join_phrases(calibration)}, and calibration of all "
        f"classes jointly by {join_phrases(across)}. Discrimination was assessed by the area under "
        f"the ROC curve{each}{pairs}, and usefulness for decisions by net benefit (Vickers and "
        f"Elkin, 2006){costs}.{_describe_subgroups(assessment)}"
    )


def _describe_subgroups(assessment: Assessment) -> str:
    columns = [repr(each.column) for each in assessment.subgroups]
    if not columns:
        return ""
    return (
        f" Observed and predicted class frequencies were compared by subgroup ({', '.join(columns)}"
        "), with estimates shrunk toward each other and p-values adjusted for the number of "
        "subgroups and classes."
    )


def describe_measure_intervals(assessment: Assessment, *, is_grouped: bool) -> str:
    """Say what the intervals of these measures are."""
    groups = (
        " These intervals treat rows as independent, although some belong to the same group."
        if is_grouped
        else ""
    )
    return (
        f"{_level(assessment)} intervals of intercepts and slopes are Wald intervals, those of "
        "areas under the curve are based on the variance of DeLong et al. (1988), and those of net "
        f"benefit on the t-distribution.{groups}"
    )


def describe_software() -> str:
    """Name the versions of Python and of the packages."""
    return (
        f"Analyses used calibrant {__version__} with Python {platform.python_version()}, "
        f"scikit-learn {sklearn.__version__}, NumPy {np.__version__} and SciPy {scipy.__version__}."
    )


def describe_classes(classes: Sequence[object], n_rows: Sequence[int]) -> str:
    """Return the number of classes with their rows, as a phrase."""
    if len(classes) > MOST_CLASSES:
        return f"{len(classes)} classes, with {min(n_rows)} to {max(n_rows)} rows each"
    named = [f"{name} (n = {n})" for name, n in zip(classes, n_rows, strict=True)]
    return f"{len(classes)} classes: {join_phrases(named)}"


def _level(assessment: Assessment) -> str:
    return percent(assessment.by_class[0].curve.level)


def _describe_data(evaluation: Evaluation, source: Source) -> list[str]:
    rows = count(len(evaluation.y), "row")
    if evaluation.is_grouped:
        column = "" if source.schema is None else f" (column {source.schema.groups!r})"
        rows += f" in {count(len(np.unique(evaluation.group)), 'group')}{column}"
    classes = describe_classes(evaluation.classes, evaluation.class_count.tolist())
    if source.schema is None:
        return [f"The data had {rows} of {classes}."]
    features = source.schema.features
    n_missing = sum(feature.n_missing > 0 for feature in features)
    missing = "None of them had missing values."
    if n_missing:
        missing = f"Values were missing in {n_missing} of them."
    return [
        f"The outcome {source.schema.target!r} had {classes}, in {rows}. The models used "
        f"{count(len(features), 'predictor')}. {missing}",
        PREPROCESSING,
    ]


def _describe_fits(evaluation: Evaluation) -> list[str]:
    """Return one sentence for all models that were fitted alike."""
    subjects: dict[str, list[str]] = {}
    for model in evaluation.models:
        if model.description is not None:
            subjects.setdefault(model.description.sentence, []).append(model.description.subject)
    return [
        capitalize(
            sentence.replace("{were}", "was" if len(names) == 1 else "were").replace(
                "{subjects}", join_phrases(names)
            )
        )
        for sentence, names in subjects.items()
    ]


def _describe_models(evaluation: Evaluation) -> list[str]:
    """Describe the models, and how they were evaluated."""
    found = _describe_fits(evaluation)
    together = "of rows" if not evaluation.is_grouped else "of whole groups of rows"
    repeats = "" if evaluation.n_repeats == 1 else f", repeated {evaluation.n_repeats} times"
    folds = (
        f"{evaluation.n_folds}-fold cross-validation {together}, stratified by class{repeats} "
        f"(random seed {evaluation.random_state})"
    )
    first = ""
    if evaluation.n_repeats > 1:
        first = (
            " Calibration curves, discrimination and net benefit were computed on the first "
            "repeat, in which each row is predicted once."
        )
    if not evaluation.is_given:
        return [
            *found,
            f"Performance was estimated by {folds}. All steps, including calibration, were "
            f"repeated on the training rows of each split.{first}",
        ]
    given = (
        "The probabilities were given and are assumed to be predictions for rows that the model "
        "was not fitted on."
    )
    if not any(model.is_refitted for model in evaluation.models):
        return [given, *found]
    return [
        given,
        *found,
        f"Recalibration was evaluated by {folds}, so that each recalibrated probability is for a "
        "row that the recalibration was not fitted on.",
    ]
