"""Losses of the runs of the arena, by case, method and fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._core.typing import BoolArray, FloatArray
from calibrant.combination import normalize
from calibrant.metrics import brier_score, log_loss
from experiments.arena.methods import METHODS
from experiments.classifiers import CLASSIFIERS
from experiments.store import Case, Run


@dataclass(frozen=True, eq=False)
class ArenaLosses:
    """Losses of all methods in all cases, on the folds that all cases share.

    Attributes
    ----------
    cases : list of Case
        Classifiers and data sets.
    methods : list of str
        Names of the methods.
    folds : list of int
        Numbers of the folds or draws.
    log_loss, brier : ndarray of shape (n_cases, n_methods, n_folds)
        The losses; NaN where a method failed or was not run.
    was_run : ndarray of shape (n_cases, n_methods, n_folds)
        Whether the method was run, successfully or not.
    seconds : ndarray of shape (n_cases, n_methods)
        Seconds to fit and calibrate, averaged over the folds.
    test_ratio : ndarray of shape (n_cases,) or None
        Ratio of test rows to training rows. None means the ratio in cross-validation.
    versions : dict of str to list of str
        Versions of Python and of the packages in these runs; several if the runs differ.
    """

    cases: list[Case]
    methods: list[str]
    folds: list[int]
    log_loss: FloatArray
    brier: FloatArray
    was_run: BoolArray
    seconds: FloatArray
    test_ratio: FloatArray | None
    versions: dict[str, list[str]]

    @property
    def mean_log_loss(self) -> FloatArray:
        """Log loss averaged over the folds, of shape (n_cases, n_methods)."""
        return self.log_loss.mean(axis=2)

    @property
    def mean_brier(self) -> FloatArray:
        """Brier score averaged over the folds, of shape (n_cases, n_methods)."""
        return self.brier.mean(axis=2)


def compute_losses(runs: Sequence[Run], n_train: int | None) -> ArenaLosses:
    """Compute the losses of all runs on complete folds.

    Parameters
    ----------
    runs : sequence of Run
        Runs of one experiment of the arena.
    n_train : int or None
        Number of training rows; None means cross-validation.

    Returns
    -------
    ArenaLosses
        The losses.
    """
    folds = _complete_folds(runs)
    runs = [run for run in runs if run.fold in folds]
    names = {run.method for run in runs}
    methods = [name for name in METHODS if name in names]
    order = list(CLASSIFIERS)
    cases = sorted(
        {run.case for run in runs}, key=lambda case: (order.index(case.classifier), case.data_set)
    )
    shape = (len(cases), len(methods), len(folds))
    losses, briers, seconds = (np.full(shape, np.nan) for _ in range(3))
    was_run = np.zeros(shape, dtype=bool)
    for run in runs:
        place = (cases.index(run.case), methods.index(run.method), folds.index(run.fold))
        was_run[place] = True
        seconds[place] = run.model_seconds + (run.calibration_seconds or 0.0)
        if run.error is None:
            # Rows returned by other packages do not always sum to 1.
            proba = normalize(np.clip(run.proba, 0.0, 1.0))
            labels = np.arange(proba.shape[1])
            losses[place] = log_loss(run.y_true, proba, labels=labels)
            briers[place] = brier_score(run.y_true, proba, labels=labels)
    test_ratio = None
    if n_train is not None:
        n_test = {run.case: len(run.y_true) for run in runs}
        test_ratio = np.array([n_test[case] / n_train for case in cases])
    return ArenaLosses(
        cases,
        methods,
        folds,
        losses,
        briers,
        was_run,
        seconds.mean(axis=2),
        test_ratio,
        _collect_versions(runs),
    )


def _collect_versions(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Return the versions of every package in any of the runs."""
    versions: dict[str, set[str]] = {}
    for run in runs:
        for package, version in run.versions.items():
            versions.setdefault(package, set()).add(version)
    return {package: sorted(found) for package, found in versions.items()}


def _complete_folds(runs: Sequence[Run]) -> list[int]:
    """Return the folds on which all cases have runs."""
    cases_by_fold: dict[int, set[Case]] = {}
    for run in runs:
        cases_by_fold.setdefault(run.fold, set()).add(run.case)
    all_cases = {run.case for run in runs}
    complete = sorted(fold for fold, cases in cases_by_fold.items() if cases == all_cases)
    if not complete:
        raise ValueError(
            "There must be a fold on which every classifier has run on every data set, but none of "
            f"the {len(runs)} runs belongs to such a fold. Continue with: "
            "python -m experiments run --experiment EXPERIMENT"
        )
    return complete
