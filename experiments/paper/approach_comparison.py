"""Comparison of all pairs with one-vs-rest, both calibrated by DGG+ENIR, by data set."""

from __future__ import annotations

from dataclasses import dataclass, replace

from calibrant.comparison import Comparison, effect, holm
from experiments.paper.losses import PaperLosses
from experiments.paper.methods import METHODS, PaperMethod
from experiments.store import Case

ONE_VS_REST = METHODS["one_vs_rest_dgg_enir"]
ALL_PAIRS = (METHODS["all_pairs_dgg_enir"], METHODS["all_pairs_dgg_enir_as_published"])
# The better approach, by the effect of replacing one-vs-rest with all pairs.
WINNERS = {"impaired": "one-vs-rest", "neutral": "even", "improved": "all pairs"}


@dataclass(frozen=True, eq=False)
class ApproachComparison:
    """The comparison of all pairs with one-vs-rest in one case.

    Attributes
    ----------
    case : Case
        Classifier and data set.
    all_pairs : PaperMethod
        All pairs with correct or with faulty coupling.
    losses : dict of str to (float, float)
        Mean loss of one-vs-rest and of all pairs, by metric.
    comparisons : dict of (str, str) to Comparison
        Comparisons by test and metric. Negative differences favor all pairs.
    adjusted : dict of (str, str) to Comparison
        The same with p-values adjusted for the number of data sets by Holm's method.
    """

    case: Case
    all_pairs: PaperMethod
    losses: dict[str, tuple[float, float]]
    comparisons: dict[tuple[str, str], Comparison]
    adjusted: dict[tuple[str, str], Comparison]

    def winner(self, test: str, *, adjusted: bool = False) -> str:
        """Return the better approach according to a test, by the rule of Table 3."""
        comparisons = self.adjusted if adjusted else self.comparisons
        return WINNERS[effect([item for key, item in comparisons.items() if key[0] == test])]


def compare_approaches(losses: PaperLosses, tests: tuple[str, ...]) -> list[ApproachComparison]:
    """Compare the approaches in all finished cases in which both have values.

    Parameters
    ----------
    losses : PaperLosses
        Metrics of an experiment.
    tests : tuple of str
        The tests to run.

    Returns
    -------
    list of ApproachComparison
        Ordered by classifier, coupling and data set.
    """
    losses.check_any_finished()
    return [
        comparison
        for classifier in losses.classifiers
        for all_pairs in ALL_PAIRS
        if all_pairs in losses.methods
        for comparison in _compare(losses, classifier, all_pairs, tests)
    ]


def _compare(
    losses: PaperLosses, classifier: str, all_pairs: PaperMethod, tests: tuple[str, ...]
) -> list[ApproachComparison]:
    keys = [(test, metric) for test in tests for metric in losses.metrics]
    by_case: dict[Case, dict[tuple[str, str], Comparison]] = {}
    for case in (case for case in losses.finished_cases if case.classifier == classifier):
        comparisons = {
            (test, metric): comparison
            for test, metric in keys
            if (comparison := losses.compare(case, all_pairs, ONE_VS_REST, metric, test))
        }
        if len(comparisons) == len(keys):
            by_case[case] = comparisons
    p_values = {
        key: holm([comparisons[key].p_value for comparisons in by_case.values()]) for key in keys
    }
    return [
        ApproachComparison(
            case,
            all_pairs,
            {
                metric: (
                    losses.mean(case, ONE_VS_REST, metric),
                    losses.mean(case, all_pairs, metric),
                )
                for metric in losses.metrics
            },
            comparisons,
            {
                key: replace(comparison, p_value=float(p_values[key][index]))
                for key, comparison in comparisons.items()
            },
        )
        for index, (case, comparisons) in enumerate(by_case.items())
    ]
