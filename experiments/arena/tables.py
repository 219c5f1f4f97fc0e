"""The arena's tables from stored runs: how methods rank, help and harm."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from calibrant.combination import normalize
from calibrant.comparison import corrected_t_test
from calibrant.metrics import brier_score, log_loss
from experiments.arena.methods import ARENA_CLASSIFIERS, METHODS, OUT_OF_BAG_METHODS, PAPER_METHODS
from experiments.arena.peers import PEERS
from experiments.rendering import NOTHING, Cell, Table
from experiments.store import Run

FloatArray = NDArray[np.float64]

RAW, AUTO = "raw", "auto"
SLIGHT_HARM, HARM = 1.005, 1.02


@dataclass(frozen=True, eq=False)
class ArenaLosses:
    """Losses of all methods on all rows of the arena: a row is a classifier on a data set.

    Attributes
    ----------
    rows : list of (str, str)
        Classifier and data set.
    methods : list of str
        The methods.
    log_loss, brier : ndarray of shape (n_rows, n_methods, n_folds)
        Losses by fold; NaN where a method failed or does not take part.
    seconds : ndarray of shape (n_rows, n_methods)
        Seconds to fit and calibrate, mean of the folds.
    folds : list of int
        The folds, or draws, that all rows have.
    test_share : ndarray of shape (n_rows,) or None
        Test rows divided by training rows; None is that of folds.
    """

    rows: list[tuple[str, str]]
    methods: list[str]
    log_loss: FloatArray
    brier: FloatArray
    seconds: FloatArray
    folds: list[int]
    test_share: FloatArray | None

    def means(self) -> FloatArray:
        """Log loss of each method on each row, mean of the folds."""
        return self.log_loss.mean(axis=2)


def arena_losses(runs: list[Run]) -> ArenaLosses:
    """Compute the losses of all runs, for the folds that are complete.

    Parameters
    ----------
    runs : list of Run
        Runs of one protocol of the arena.

    Returns
    -------
    ArenaLosses
        The losses.
    """
    names = {run.scenario for run in runs}
    methods = [name for name in METHODS | PAPER_METHODS | OUT_OF_BAG_METHODS if name in names]
    present = {row_of(run) for run in runs}
    rows = sorted(present, key=lambda row: (list(ARENA_CLASSIFIERS).index(row[0]), row[1]))
    folds = sorted({run.fold for run in runs})
    complete = [
        fold for fold in folds if {row_of(run) for run in runs if run.fold == fold} == present
    ]
    if not complete:
        raise ValueError(
            "A store must have a fold of the suite on which all its rows are done. Got "
            f"{len(runs)} runs without one. Go on with: python -m experiments run --suite SUITE"
        )
    shape = (len(rows), len(methods), len(complete))
    losses, briers, seconds = (np.full(shape, np.nan) for _ in range(3))
    for run in runs:
        if run.fold not in complete:
            continue
        place = (rows.index(row_of(run)), methods.index(run.scenario), complete.index(run.fold))
        seconds[place] = run.model_seconds + (run.calibration_seconds or 0.0)
        if run.error is None:
            # Peers do not always return rows that sum to 1.
            proba = normalize(np.clip(run.proba, 0.0, 1.0))
            labels = np.arange(proba.shape[1])
            losses[place] = log_loss(run.true, proba, labels=labels)
            briers[place] = brier_score(run.true, proba, labels=labels)
    n_train = re.search(r"\d+$", runs[0].protocol)
    shares = {row_of(run): len(run.true) / int(n_train[0]) for run in runs} if n_train else None
    return ArenaLosses(
        rows,
        methods,
        losses,
        briers,
        seconds.mean(axis=2),
        complete,
        None if shares is None else np.array([shares[row] for row in rows]),
    )


def row_of(run: Run) -> tuple[str, str]:
    """Return the row of the arena that a run belongs to."""
    return (run.classifier, run.data_set)


def methods_table(losses: ArenaLosses, title: str) -> Table:
    """Make a line a method: mean losses, rank, harm and help, over all rows."""
    # The paper's methods run with naive Bayes alone; what they rank there is no mean of all.
    own_methods = [index for index, name in enumerate(losses.methods) if name not in PAPER_METHODS]
    means = losses.means()
    raw = means[:, losses.methods.index(RAW)]
    # A method that failed ranks behind all that did not.
    ranks = np.full(means.shape[1], np.nan)
    ranks[own_methods] = rankdata(
        np.where(np.isnan(means), np.inf, means)[:, own_methods], axis=1
    ).mean(axis=0)
    briers = losses.brier.mean(axis=2)
    best = [
        min(
            _mean(values[:, index]) for index in own_methods if not np.isnan(values[:, index]).any()
        )
        for values in (means, briers)
    ]
    best.append(np.nanmin(ranks))
    lines = []
    for index in sorted(own_methods, key=lambda index: ranks[index]):
        ran = ~np.isnan(means[:, index])
        own = means[ran, index]
        worse, better = _significant(losses, index)
        values = (_mean(own), _mean(briers[ran, index]), ranks[index])
        cells = [Cell(losses.methods[index])]
        for value, least, digits in zip(values, best, (4, 4, 1), strict=True):
            text = NOTHING if np.isnan(value) else f"{value:.{digits}f}"
            cells.append(Cell(text, bold=bool(ran.all()) and value == least))
        rest = [
            _share(own > SLIGHT_HARM * raw[ran]),
            _share(own > HARM * raw[ran]),
            str(worse),
            str(better),
            f"{np.nanmean(losses.seconds[:, index]):.2f}",
            str(np.count_nonzero(~ran)),
        ]
        lines.append(cells + [Cell(text) for text in rest])
    return Table(
        title,
        [
            "method",
            "log loss",
            "Brier",
            "mean rank",
            "> 0.5 % worse than raw",
            "> 2 % worse",
            "significantly worse",
            "significantly better",
            "seconds",
            "failed",
        ],
        lines,
        f"{len(losses.rows)} rows (classifier x data set), {len(losses.folds)} folds each. Bold: "
        "best. Significance: corrected resampled t-test of log loss against raw, 5 %. Where a "
        "method failed on some rows its means are over the others, which are easier, and compare "
        "with nothing; its rank counts it as last.",
    )


def classifiers_table(losses: ArenaLosses, title: str) -> Table:
    """Make a line a classifier: auto beside raw, the best peer, and an oracle of all peers."""
    _check_has_auto(losses)
    means = losses.means()
    column = {name: index for index, name in enumerate(losses.methods)}
    peers = [name for name in PEERS if name in column]
    lines = []
    for classifier, shown in [*ARENA_CLASSIFIERS.items(), (None, "all")]:
        own = [i for i, row in enumerate(losses.rows) if classifier in (None, row[0])]
        if not own:
            continue
        part = means[own]
        # A peer that failed on some data set has no mean to compare.
        by_peer = {name: part[:, column[name]].mean() for name in peers}
        ran = {name: mean for name, mean in by_peer.items() if not np.isnan(mean)}
        best = min(ran, key=lambda name: ran[name], default=None)
        oracle = np.nanmin(part[:, [column[name] for name in (RAW, *peers)]], axis=1).mean()
        auto = part[:, column[AUTO]].mean()
        lines.append(
            [
                Cell(shown),
                Cell(f"{part[:, column[RAW]].mean():.4f}"),
                Cell(f"{auto:.4f}", bold=auto <= oracle),
                Cell(NOTHING) if best is None else Cell(f"{ran[best]:.4f}", beside=best),
                Cell(f"{oracle:.4f}", bold=oracle < auto),
            ]
        )
    return Table(
        title,
        ["classifier", "raw", "auto", "best single peer", "oracle of the peers"],
        lines,
        "Mean log loss over the data sets. The best single peer is the best of those that never "
        "failed; the oracle picks the best of raw and all peers for each data set, with hindsight.",
        beside="name",
    )


def harmed_table(losses: ArenaLosses, title: str) -> Table:
    """List the rows on which auto is worse than raw, worst first."""
    _check_has_auto(losses)
    means = losses.means()
    raw, auto = (means[:, losses.methods.index(name)] for name in (RAW, AUTO))
    order = np.argsort(raw / auto)
    return Table(
        title,
        ["row", "raw", "auto", "change"],
        [
            [
                Cell(f"{ARENA_CLASSIFIERS[losses.rows[i][0]]}, {losses.rows[i][1]}"),
                Cell(f"{raw[i]:.4f}"),
                Cell(f"{auto[i]:.4f}"),
                Cell(f"{auto[i] / raw[i] - 1:+.1%}"),
            ]
            for i in order
            if auto[i] > raw[i]
        ],
        "Log loss, mean of the folds.",
    )


def losses_table(losses: ArenaLosses, title: str) -> Table:
    """List all losses by fold, for those who compute further."""
    return Table(
        title,
        ["classifier", "data_set", "method", "fold", "log_loss", "brier"],
        [
            [
                Cell(text)
                for text in (
                    *row,
                    method,
                    str(fold),
                    f"{losses.log_loss[i, j, place]:.5g}",
                    f"{losses.brier[i, j, place]:.5g}",
                )
            ]
            for i, row in enumerate(losses.rows)
            for j, method in enumerate(losses.methods)
            for place, fold in enumerate(losses.folds)
            if method not in PAPER_METHODS or row[0] == "nb"
        ],
    )


def _check_has_auto(losses: ArenaLosses) -> None:
    if AUTO not in losses.methods:
        raise ValueError(
            f"The table is about the method {AUTO!r}. Got runs of {', '.join(losses.methods)}. "
            "Ask for the table of methods."
        )


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else np.nan


def _share(mask: NDArray[np.bool_]) -> str:
    return f"{mask.mean():.0%}" if len(mask) else NOTHING


def _significant(losses: ArenaLosses, method: int) -> tuple[int, int]:
    """Count the rows on which a method is significantly worse and better than raw."""
    worse = better = 0
    raw = losses.methods.index(RAW)
    for row, own in enumerate(losses.log_loss):
        if method == raw or np.isnan(own[method]).any() or own.shape[1] < 2:
            continue
        share = None if losses.test_share is None else losses.test_share[row]
        if corrected_t_test(own[method], own[raw], share).is_significant():
            is_worse = own[method].mean() > own[raw].mean()
            worse, better = worse + is_worse, better + (not is_worse)
    return worse, better


ARENA_TABLES: dict[str, Callable[[ArenaLosses, str], Table]] = {
    "methods": methods_table,
    "classifiers": classifiers_table,
    "harmed": harmed_table,
    "losses": losses_table,
}
