"""Table 3 of the paper: data sets improved, neutral and impaired by calibration."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from calibrant.comparison import effect
from experiments.paper.experiment import CLASSIFIERS
from experiments.paper.losses import (
    AS_PUBLISHED,
    METRICS,
    PUBLISHED_NAMES,
    Measures,
    read_published,
    scenario_title,
)
from experiments.paper.results import RAW
from experiments.rendering import Cell, Table

CALIBRATED = "_dgg_enir"
EFFECTS = ("improved", "neutral", "impaired")
# Problems with three to five classes have a low number of classes, as in the paper.
MOST_LOW_CLASSES = 5
CLASS_GROUPS = ("low", "high")


@dataclass(frozen=True)
class EffectCount:
    """The number of finished data sets on which calibration has an effect, ours and the paper's."""

    classifier: str
    scenario: str
    class_group: str
    effect: str
    count: int
    published: int


def count_effects(measures: Measures, test: str) -> list[EffectCount]:
    """Count effects of calibration, where both metrics have numbers.

    Parameters
    ----------
    measures : Measures
        The metrics of a suite.
    test : {"welch", "paired", "corrected"}
        The test against multi-class raw.

    Returns
    -------
    list of EffectCount
        By classifier, scenario, number of classes and effect.
    """
    measures.check_finished()
    published = {
        (row["classifier"], row["approach"], row["class_count_group"]): row
        for row in read_published("effects.csv")
    }
    counts = []
    for classifier in filter(measures.finished_sets, measures.classifiers):
        for scenario in (name for name in measures.scenarios if CALIBRATED in name):
            approach = scenario.removesuffix(AS_PUBLISHED).removesuffix(CALIBRATED)
            own = _count(measures, classifier, scenario, test)
            for group in CLASS_GROUPS:
                beside = published[PUBLISHED_NAMES[classifier], approach, group]
                counts += [
                    EffectCount(
                        classifier, scenario, group, kind, own[group, kind], int(beside[kind])
                    )
                    for kind in EFFECTS
                ]
    return counts


def _count(
    measures: Measures, classifier: str, scenario: str, test: str
) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for data_set in measures.finished_sets(classifier):
        comparisons = [
            measures.compare(classifier, data_set, scenario, RAW, metric, test)
            for metric in METRICS[measures.form]
        ]
        known = [comparison for comparison in comparisons if comparison is not None]
        if len(known) == len(comparisons):
            n_classes = measures.n_classes(classifier, data_set)
            group = "low" if n_classes <= MOST_LOW_CLASSES else "high"
            counts[group, effect(known)] += 1
    return counts


def effects_table(measures: Measures, test: str) -> Table:
    """Make the table in the paper's layout: classifier and approach, by number of classes."""
    by_row: dict[tuple[str, str], list[EffectCount]] = {}
    for one in count_effects(measures, test):
        by_row.setdefault((one.classifier, one.scenario), []).append(one)
    return Table(
        "Effect of calibration: the number of data sets",
        ["classifier", "approach", *EFFECTS, *EFFECTS],
        [
            [
                Cell(CLASSIFIERS[classifier]),
                Cell(scenario_title(scenario)),
                *(Cell(str(one.count), beside=str(one.published)) for one in own),
            ]
            for (classifier, scenario), own in by_row.items()
        ],
        f"In brackets: the published count. Low: up to {MOST_LOW_CLASSES} classes. Significance by "
        f"{test} t-test against multi-class raw, {measures.form} form of the metrics; a data set "
        "where it has no number is not counted. " + measures.finished_note(),
        groups=["", "", *(f"{group} number of classes" for group in CLASS_GROUPS for _ in EFFECTS)],
    )


def effects_data(measures: Measures, test: str) -> Table:
    """List all counts, for those who compute further."""
    return Table(
        "Effects",
        ["classifier", "scenario", "class_group", "effect", "count", "published"],
        [
            [
                Cell(text)
                for text in (
                    one.classifier,
                    one.scenario,
                    one.class_group,
                    one.effect,
                    str(one.count),
                    str(one.published),
                )
            ]
            for one in count_effects(measures, test)
        ],
    )
