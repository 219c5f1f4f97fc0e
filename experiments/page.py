"""A results store -> one page: the paper's tables, the erratum, the arena."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from markupsafe import Markup

from calibrant.combination import couple
from calibrant.comparison import compare_ranks
from calibrant.report.page import render_page
from experiments.arena.tables import (
    ArenaLosses,
    arena_losses,
    classifiers_table,
    harmed_table,
    methods_table,
)
from experiments.figures import draw_agreement, draw_ranks
from experiments.paper.approaches import approaches_tables
from experiments.paper.as_published import faulty_couple
from experiments.paper.effects import effects_table
from experiments.paper.experiment import CLASSIFIERS
from experiments.paper.losses import AS_PUBLISHED, Measures, published_value
from experiments.paper.results import results_tables
from experiments.paper.tables import times_table
from experiments.ranks import never_failed
from experiments.rendering import Table
from experiments.runner import SUITES, Suite
from experiments.store import Run, Store

# The example of the erratum: probabilities of four classes.
TRUTH = (0.1, 0.3, 0.1, 0.5)
# Between these lie the mean squared errors of the paper.
LIMITS = (1e-3, 0.4)
ALL_PAIRS = ("all_pairs_raw", "all_pairs_dgg_enir")


@dataclass(frozen=True)
class Figure:
    """A picture with what it shows."""

    title: str
    picture: Markup


@dataclass(frozen=True, eq=False)
class Erratum:
    """What the coupling of the paper does.

    Attributes
    ----------
    truth, correct, faulty : tuple of float
        Probabilities of four classes, and what correct and faulty coupling make of exact
        pairs of them.
    figures : tuple of Figure
        Published values against ours, with faulty and with correct coupling; empty where
        the store has no such runs.
    classifiers : tuple of str
        What circles and squares in them are.
    """

    truth: tuple[float, ...]
    correct: tuple[float, ...]
    faulty: tuple[float, ...]
    figures: tuple[Figure, ...]
    classifiers: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ArenaPart:
    """One suite of the arena."""

    title: str
    ranks: Figure | None
    tables: tuple[Table, ...]


def render_bench(store: Store) -> str:
    """Return the HTML of the page of a store.

    Parameters
    ----------
    store : Store
        The results.

    Returns
    -------
    str
        One page, with its style and script inside.
    """
    published = _runs_of(store, replace(SUITES["paper"], protocol="as-published"))
    proper, smoke = (_runs_of(store, SUITES[name]) for name in ("paper", "smoke"))
    arenas = [part for suite, title in ARENAS.items() if (part := _arena(store, suite, title))]
    if not published and not proper and not smoke and not arenas:
        raise ValueError(
            f"{store.path} must hold results. It has none yet. Run: "
            f"python -m experiments run --store {store.path}"
        )
    return render_page(
        "page.html",
        package="experiments",
        name=store.path.name,
        published=_paper_tables(published, "published", "paired"),
        proper=_paper_tables(proper, "equations", "corrected"),
        smoke=_paper_tables(smoke, "equations", "corrected"),
        erratum=_erratum(published),
        arenas=arenas,
    )


ARENAS = {
    "arena": "Ten folds of the twelve sets, at most 1,000 rows each",
    "arena-50": "Fitted on 50 rows",
    "arena-100": "Fitted on 100 rows",
    "arena-200": "Fitted on 200 rows",
}


def _runs_of(store: Store, suite: Suite) -> list[Run]:
    return store.runs(suite.protocol, suite.n_folds)


def _paper_tables(runs: list[Run], form: str, test: str) -> list[Table]:
    """Make all tables of a suite; those that count data sets, if one is finished."""
    if not runs:
        return []
    measures = Measures(runs, form)
    counts = []
    if any(measures.finished_sets(classifier) for classifier in measures.classifiers):
        counts = [effects_table(measures, test), *approaches_tables(measures, test)]
    return [*results_tables(measures, test), *counts, times_table(runs)]


def _erratum(runs: list[Run]) -> Erratum:
    truth = np.array(TRUTH)
    pairwise = truth[:, None] / (truth[:, None] + truth)
    vector = pairwise[np.triu_indices(len(truth), 1)]
    measures = Measures(runs, "published")
    figures = []
    for title, suffix in {"with R's coupling": AS_PUBLISHED, "with correct coupling": ""}.items():
        points = {
            CLASSIFIERS[classifier]: _pairs(measures, classifier, suffix)
            for classifier in measures.classifiers
        }
        if any(points.values()):
            label = f"Published against own mean squared error of all pairs, {title}"
            figures.append(Figure(f"All pairs, {title}", draw_agreement(points, LIMITS, label)))
    return Erratum(
        TRUTH,
        tuple(couple(pairwise[None])[0].tolist()),
        tuple(faulty_couple(vector[None])[0].tolist()),
        tuple(figures),
        tuple(CLASSIFIERS[classifier] for classifier in measures.classifiers),
    )


def _pairs(measures: Measures, classifier: str, suffix: str) -> list[tuple[float, float]]:
    """Pair published and own MSE of all pairs, where there are both and all folds are done."""
    pairs = []
    for data_set in measures.finished_sets(classifier):
        for scenario in ALL_PAIRS:
            published = published_value(classifier, data_set, scenario, "MSE").value
            own = measures.mean(classifier, data_set, scenario + suffix, "MSE")
            if published is not None and not np.isnan(own):
                pairs.append((published, own))
    return pairs


def _arena(store: Store, suite: str, title: str) -> ArenaPart | None:
    runs = _runs_of(store, SUITES[suite])
    if not runs:
        return None
    losses = arena_losses(runs)
    tables = (
        methods_table(losses, "Methods"),
        classifiers_table(losses, "The default beside the best peer"),
        harmed_table(losses, "Where the default is worse than no calibration"),
    )
    return ArenaPart(title, _ranks(losses), tables)


def _ranks(losses: ArenaLosses) -> Figure | None:
    """Mean ranks of the methods that never failed."""
    means, methods = never_failed(losses.means(), losses.methods)
    if len(methods) < 3 or len(means) < 2:
        return None
    comparison = compare_ranks(means)
    title = f"Mean ranks by log loss; critical difference {comparison.critical_difference:.2f}"
    return Figure(title, draw_ranks(comparison, methods))
