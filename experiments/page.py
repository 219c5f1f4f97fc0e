"""The HTML page of a results store: the tables of the paper, the erratum and the arena."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass

import numpy as np

from calibrant.combination import couple
from calibrant.report.page import render_page
from experiments.arena.experiment import ArenaExperiment
from experiments.arena.losses import compute_losses
from experiments.arena.tables import (
    make_classifiers_table,
    make_harmed_table,
    make_methods_table,
)
from experiments.classifiers import CLASSIFIERS
from experiments.experiment import TableOptions
from experiments.paper.as_published import faulty_couple
from experiments.paper.experiment import PaperExperiment
from experiments.paper.figures import Points, draw_agreement
from experiments.paper.losses import PaperLosses
from experiments.paper.methods import METHODS, PaperMethod
from experiments.paper.published import published_value
from experiments.paper.tables import TABLES
from experiments.ranks import can_rank, draw_ranks
from experiments.registry import ARENAS, AS_PUBLISHED, PAPER, SMOKE
from experiments.rendering import Table
from experiments.store import Run, Store

# Class probabilities of the erratum's example.
TRUE_PROBA = (0.1, 0.3, 0.1, 0.5)
# Both versions of all pairs, by panel title.
COUPLINGS = {
    "with R's coupling": ("all_pairs_raw_as_published", "all_pairs_dgg_enir_as_published"),
    "with correct coupling": ("all_pairs_raw", "all_pairs_dgg_enir"),
}


@dataclass(frozen=True)
class Image:
    """An image on the page.

    Attributes
    ----------
    title : str
        The caption.
    description : str
        What the image shows, for readers who cannot see it.
    source : str
        The image as a data URI.
    """

    title: str
    description: str
    source: str


@dataclass(frozen=True, eq=False)
class Erratum:
    """The effect of the faulty coupling.

    Attributes
    ----------
    true_proba : tuple of float
        Probabilities of four classes.
    correct, faulty : tuple of float
        The results of coupling their exact pairwise probabilities, without and with the fault.
    agreement : Image or None
        Replicated against published errors with both couplings; None if there are no runs.
    """

    true_proba: tuple[float, ...]
    correct: tuple[float, ...]
    faulty: tuple[float, ...]
    agreement: Image | None


@dataclass(frozen=True, eq=False)
class ArenaSection:
    """One experiment of the arena."""

    title: str
    ranks: Image | None
    tables: tuple[Table, ...]


def render_results(store: Store) -> str:
    """Return the HTML page of a store.

    Parameters
    ----------
    store : Store
        The results.

    Returns
    -------
    str
        The page, including its style, script and images.
    """
    published = store.runs(AS_PUBLISHED.name)
    paper, smoke = (store.runs(experiment.name) for experiment in (PAPER, SMOKE))
    arenas = [
        _arena_section(experiment, runs)
        for experiment in ARENAS
        if (runs := store.runs(experiment.name))
    ]
    if not (published or paper or smoke or arenas):
        raise ValueError(
            f"{store.path} must contain results, but it has none yet. Run: "
            f"python -m experiments run --store {store.path}"
        )
    return render_page(
        "page.html",
        package="experiments",
        name=store.path.name,
        published=_paper_tables(AS_PUBLISHED, published, TableOptions("published", "paired")),
        paper=_paper_tables(PAPER, paper, TableOptions("equations", "corrected")),
        smoke=_paper_tables(SMOKE, smoke, TableOptions("equations", "corrected")),
        erratum=make_erratum(published),
        arenas=arenas,
    )


def _paper_tables(
    experiment: PaperExperiment, runs: list[Run], options: TableOptions
) -> list[Table]:
    """Return all tables of an experiment; those that count data sets require a finished one."""
    if not runs:
        return []
    losses = PaperLosses(runs, experiment.methods, options.metrics)
    counts = ("effects", "approaches") if losses.finished_cases else ()
    return [
        table
        for name in ("results", *counts, "times")
        for table in TABLES[name].make(losses, options)
    ]


def make_erratum(runs: list[Run]) -> Erratum:
    """Show the effect of the faulty coupling on an example and on the published numbers.

    Parameters
    ----------
    runs : list of Run
        Runs of the experiment as published, possibly none.

    Returns
    -------
    Erratum
        The example and the figure.
    """
    truth = np.array(TRUE_PROBA)
    pairwise = truth[:, None] / (truth[:, None] + truth)
    vector = pairwise[np.triu_indices(len(truth), 1)]
    losses = PaperLosses(runs, AS_PUBLISHED.methods, "published")
    panels = {
        title: _agreement_points(losses, [METHODS[name] for name in names])
        for title, names in COUPLINGS.items()
    }
    has_points = any(pairs for points in panels.values() for pairs in points.values())
    return Erratum(
        TRUE_PROBA,
        tuple(couple(pairwise[None])[0].tolist()),
        tuple(faulty_couple(vector[None])[0].tolist()),
        _agreement_image(panels) if has_points else None,
    )


def _agreement_points(losses: PaperLosses, methods: list[PaperMethod]) -> Points:
    """Return the published and replicated MSE of finished cases that have both."""
    points: dict[str, list[tuple[float, float]]] = {}
    for case in losses.finished_cases:
        for method in methods:
            published = published_value(case, method, "MSE").value
            replicated = losses.mean(case, method, "MSE")
            if published is not None and not np.isnan(replicated):
                title = CLASSIFIERS[case.classifier].title
                points.setdefault(title, []).append((published, replicated))
    return points


def _agreement_image(panels: dict[str, Points]) -> Image:
    content = io.BytesIO()
    draw_agreement(panels).savefig(content, format="svg")
    counts = "; ".join(
        f"{title}: {sum(map(len, points.values()))} points" for title, points in panels.items()
    )
    return Image(
        "Mean squared error of all pairs, published and replicated",
        f"Two scatter plots of replicated against published errors. {counts}.",
        _svg_uri(content.getvalue()),
    )


def _arena_section(experiment: ArenaExperiment, runs: list[Run]) -> ArenaSection:
    losses = compute_losses(runs, experiment.n_train)
    ranks = None
    if can_rank(losses.mean_log_loss, losses.methods):
        ranks = Image(
            "Mean ranks by log loss",
            "Critical-difference diagram of the methods; the table of methods has their ranks.",
            _svg_uri(draw_ranks(losses.mean_log_loss, losses.methods, "svg")),
        )
    tables = (
        make_methods_table(losses, "Methods"),
        make_classifiers_table(losses, "The default and the best peer"),
        make_harmed_table(losses, "Where the default is worse than no calibration"),
    )
    return ArenaSection(experiment.title, ranks, tables)


def _svg_uri(content: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(content).decode('ascii')}"
