"""Table 3 of the paper: the effects of calibration by number of data sets."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple, dataclass

from calibrant.comparison import effect
from experiments.classifiers import CLASSIFIERS
from experiments.experiment import TableOptions
from experiments.paper.losses import PaperLosses
from experiments.paper.methods import BASELINE, METHODS, PaperMethod
from experiments.paper.published import CLASSIFIER_NAMES, read_published
from experiments.rendering import Cell, Table, plain_rows

EFFECTS = ("improved", "neutral", "impaired")
# The largest number of classes that the paper calls low.
MAX_LOW_CLASSES = 5
CLASS_GROUPS = ("low", "high")
# Rows of Table 3 by calibrated method.
PUBLISHED_APPROACHES = {
    "one_vs_rest_dgg_enir": "one_vs_rest",
    "all_pairs_dgg_enir": "all_pairs",
}


@dataclass(frozen=True)
class EffectCount:
    """Number of finished data sets on which calibration has a given effect.

    Attributes
    ----------
    classifier, method : str
        Names of the classifier and the calibrated method.
    class_group : {"low", "high"}
        Number of classes of the data sets.
    effect : {"improved", "neutral", "impaired"}
        The effect.
    count, published : int
        The number of data sets, here and in the paper.
    """

    classifier: str
    method: str
    class_group: str
    effect: str
    count: int
    published: int


def count_effects(losses: PaperLosses, test: str) -> list[EffectCount]:
    """Count the effects of calibration on data sets for which both metrics have a value.

    Parameters
    ----------
    losses : PaperLosses
        Metrics of an experiment.
    test : {"welch", "paired", "corrected"}
        The test against multi-class raw.

    Returns
    -------
    list of EffectCount
        Ordered by classifier, method, number of classes and effect.
    """
    losses.check_any_finished()
    published = {
        (row["classifier"], row["approach"], row["class_count_group"]): row
        for row in read_published("effects.csv")
    }
    finished = {case.classifier for case in losses.finished_cases}
    counts = []
    for classifier in (name for name in losses.classifiers if name in finished):
        for method in (method for method in losses.methods if method.is_calibrated):
            found = _count(losses, classifier, method, test)
            approach = PUBLISHED_APPROACHES[method.published_name]
            for group in CLASS_GROUPS:
                row = published[CLASSIFIER_NAMES[classifier], approach, group]
                counts += [
                    EffectCount(
                        classifier, method.name, group, kind, found[group, kind], int(row[kind])
                    )
                    for kind in EFFECTS
                ]
    return counts


def _count(
    losses: PaperLosses, classifier: str, method: PaperMethod, test: str
) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for case in (case for case in losses.finished_cases if case.classifier == classifier):
        comparisons = [
            losses.compare(case, method, BASELINE, metric, test) for metric in losses.metrics
        ]
        known = [comparison for comparison in comparisons if comparison is not None]
        if len(known) == len(comparisons):
            group = "low" if losses.n_classes(case) <= MAX_LOW_CLASSES else "high"
            counts[group, effect(known)] += 1
    return counts


def make_effects_tables(losses: PaperLosses, options: TableOptions) -> list[Table]:
    """Return the table in the paper's layout, or all counts as data."""
    counts = count_effects(losses, options.test)
    if options.as_data:
        header = ["classifier", "method", "class_group", "effect", "count", "published"]
        return [Table("Effects", header, plain_rows(map(astuple, counts)))]
    by_row: dict[tuple[str, str], list[EffectCount]] = {}
    for count in counts:
        by_row.setdefault((count.classifier, count.method), []).append(count)
    return [
        Table(
            "Effect of calibration: number of data sets",
            ["classifier", "method", *EFFECTS, *EFFECTS],
            [
                [
                    Cell(CLASSIFIERS[classifier].title),
                    Cell(METHODS[method].title),
                    *(Cell(str(one.count), reference=str(one.published)) for one in row),
                ]
                for (classifier, method), row in by_row.items()
            ],
            f"{losses.definition_note}. In parentheses: the published count. Low: up to "
            f"{MAX_LOW_CLASSES} classes. Significance: {options.test} t-test against multi-class "
            "raw. Data sets without a value are not counted. " + losses.describe_finished(),
            groups=[
                "",
                "",
                *(f"{group} number of classes" for group in CLASS_GROUPS for _ in EFFECTS),
            ],
        )
    ]
