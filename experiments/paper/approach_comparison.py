"""One-vs-rest against all pairs, both calibrated by DGG+ENIR, data set by data set."""

from __future__ import annotations

from dataclasses import dataclass, replace

from calibrant.comparison import Comparison, effect, holm
from experiments.paper.losses import AS_PUBLISHED, METRICS, Measures

ONE_VS_REST = "one_vs_rest_dgg_enir"
ALL_PAIRS = ("all_pairs_dgg_enir", "all_pairs_dgg_enir" + AS_PUBLISHED)
# Who wins, by the effect of taking all pairs in place of one-vs-rest.
WINNERS = {"impaired": "one-vs-rest", "neutral": "even", "improved": "all pairs"}


@dataclass(frozen=True, eq=False)
class Duel:
    """All pairs against one-vs-rest on one data set.

    Attributes
    ----------
    classifier, data_set : str
        Where.
    all_pairs : str
        The scenario of all pairs: coupled correctly, or as published.
    losses : dict of str to (float, float)
        By metric: the loss of one-vs-rest and that of all pairs, means of the folds.
    comparisons : dict of (str, str) to Comparison
        By test and metric; a negative difference is in favor of all pairs.
    adjusted : dict of (str, str) to Comparison
        The same with p-values adjusted for the number of data sets, by Holm's rule.
    """

    classifier: str
    data_set: str
    all_pairs: str
    losses: dict[str, tuple[float, float]]
    comparisons: dict[tuple[str, str], Comparison]
    adjusted: dict[tuple[str, str], Comparison]

    def winner(self, test: str, *, adjusted: bool = False) -> str:
        """Return who wins by a test and all metrics, by the rule of the paper's Table 3."""
        comparisons = self.adjusted if adjusted else self.comparisons
        return WINNERS[effect([own for key, own in comparisons.items() if key[0] == test])]


def find_duels(measures: Measures, tests: tuple[str, ...]) -> list[Duel]:
    """Compare the approaches on all finished data sets on which both have numbers.

    Parameters
    ----------
    measures : Measures
        The metrics of a suite.
    tests : tuple of str
        The tests to make.

    Returns
    -------
    list of Duel
        By classifier, kind of all pairs, and data set.
    """
    measures.check_finished()
    return [
        duel
        for classifier in measures.classifiers
        for all_pairs in ALL_PAIRS
        if all_pairs in measures.scenarios
        for duel in _find_duels(measures, classifier, all_pairs, tests)
    ]


def _find_duels(
    measures: Measures, classifier: str, all_pairs: str, tests: tuple[str, ...]
) -> list[Duel]:
    metrics = METRICS[measures.form]
    made: dict[str, dict[tuple[str, str], Comparison]] = {}
    for data_set in measures.finished_sets(classifier):
        own = {
            (test, metric): comparison
            for test in tests
            for metric in metrics
            if (
                comparison := measures.compare(
                    classifier, data_set, all_pairs, ONE_VS_REST, metric, test
                )
            )
        }
        if len(own) == len(tests) * len(metrics):
            made[data_set] = own
    p_values = {
        (test, metric): holm([own[test, metric].p_value for own in made.values()])
        for test in tests
        for metric in metrics
    }
    return [
        Duel(
            classifier,
            data_set,
            all_pairs,
            {
                metric: (
                    measures.mean(classifier, data_set, ONE_VS_REST, metric),
                    measures.mean(classifier, data_set, all_pairs, metric),
                )
                for metric in metrics
            },
            own,
            {
                key: replace(comparison, p_value=float(p_values[key][place]))
                for key, comparison in own.items()
            },
        )
        for place, (data_set, own) in enumerate(made.items())
    ]
