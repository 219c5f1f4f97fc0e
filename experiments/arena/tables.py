"""Tables of the arena: how methods rank, and how often they help or harm."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.stats import rankdata

from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.comparison import corrected_t_test
from experiments.arena.losses import ArenaLosses
from experiments.arena.methods import AUTO, CLASSIFIER_OF, DEFAULT_SPLITS, RAW
from experiments.arena.peers import PEERS, SVM_PEERS
from experiments.classifiers import CLASSIFIERS
from experiments.experiment import TableType
from experiments.rendering import MISSING, Cell, Table, plain_rows

# Ratios to the uncalibrated log loss above which a method does slight or clear harm.
SLIGHT_HARM, CLEAR_HARM = 1.005, 1.02
# The title of the row with the means over all classifiers.
ALL = "all"
# Ways to get probabilities from a support vector machine, by the name of the method.
SVC_REPLACEMENTS = {
    AUTO: "CalibratedClassifier(SVC())",
    "scikit-learn SVC(probability=True)": "SVC(probability=True)",
    "scikit-learn sigmoid": "CalibratedClassifierCV(SVC(), ensemble=False)",
    "scikit-learn temperature": (
        'CalibratedClassifierCV(SVC(), method="temperature", ensemble=False)'
    ),
    "scikit-learn sigmoid, ensemble (default)": "CalibratedClassifierCV(SVC())",
    RAW: "softmax(SVC().decision_function(X))",
}


def make_methods_table(losses: ArenaLosses, title: str) -> Table:
    """Return one row per method: mean losses, mean rank, harm and help over all cases."""
    # The means of methods that run with one classifier only are not comparable.
    compared = [index for index, name in enumerate(losses.methods) if name not in CLASSIFIER_OF]
    log_loss, brier = losses.mean_log_loss, losses.mean_brier
    raw = log_loss[:, losses.methods.index(RAW)]
    # Methods that failed rank last.
    ranks = np.full(len(losses.methods), np.nan)
    ranks[compared] = rankdata(
        np.where(np.isnan(log_loss), np.inf, log_loss)[:, compared], axis=1
    ).mean(axis=0)
    complete = [index for index in compared if not np.isnan(log_loss[:, index]).any()]
    best = (
        log_loss[:, complete].mean(axis=0).min(),
        brier[:, complete].mean(axis=0).min(),
        np.nanmin(ranks),
    )
    rows = []
    for index in sorted(compared, key=lambda index: ranks[index]):
        succeeded = ~np.isnan(log_loss[:, index])
        successes = log_loss[succeeded, index]
        signs = _significant_signs(losses, index)
        values = (_mean(successes), _mean(brier[succeeded, index]), ranks[index])
        row = [Cell(losses.methods[index])]
        for value, least, digits in zip(values, best, (4, 4, 1), strict=True):
            text = MISSING if np.isnan(value) else f"{value:.{digits}f}"
            row.append(Cell(text, bold=bool(succeeded.all()) and value == least))
        rest = [
            _percentage(successes > SLIGHT_HARM * raw[succeeded]),
            _percentage(successes > CLEAR_HARM * raw[succeeded]),
            str(np.count_nonzero(signs > 0)),
            str(np.count_nonzero(signs < 0)),
            f"{np.nanmean(losses.seconds[:, index]):.2f}",
            str(np.count_nonzero(~succeeded)),
        ]
        rows.append(row + [Cell(text) for text in rest])
    return Table(
        title,
        [
            "method",
            "log loss",
            "Brier",
            "mean rank",
            "> 0.5% worse than raw",
            "> 2% worse",
            "significantly worse",
            "significantly better",
            "seconds",
            "failed",
        ],
        rows,
        f"Means over cases, each a classifier on a data set. Cases: {len(losses.cases)}. Folds: "
        f"{len(losses.folds)}. Raw: uncalibrated. Bold: best. Significance: corrected resampled "
        "t-test of the log loss against raw, 5%. Failed: cases in which the method failed on a "
        "fold. Its means omit them and cannot be compared; its rank counts them as last. "
        + _describe_versions(losses.versions),
    )


def make_classifiers_table(losses: ArenaLosses, title: str) -> Table:
    """Return one row per classifier: auto, raw, the best peer and an oracle."""
    _check_has_auto(losses)
    column = {name: index for index, name in enumerate(losses.methods)}
    peers = _peers(losses)
    rows = []
    for shown, kept in _cases_by_classifier(losses).items():
        log_loss = losses.mean_log_loss[kept]
        by_peer = {peer: log_loss[:, column[peer]].mean() for peer in peers}
        # A peer that failed in some case has no comparable mean.
        complete = {peer: mean for peer, mean in by_peer.items() if not np.isnan(mean)}
        best = min(complete, key=lambda peer: complete[peer], default=None)
        auto, oracle = log_loss[:, column[AUTO]].mean(), _oracle(losses)[kept].mean()
        rows.append(
            [
                Cell(shown),
                Cell(f"{log_loss[:, column[RAW]].mean():.4f}"),
                Cell(f"{auto:.4f}", bold=auto <= oracle),
                Cell(MISSING) if best is None else Cell(f"{complete[best]:.4f}", reference=best),
                Cell(f"{oracle:.4f}", bold=oracle < auto),
            ]
        )
    return Table(
        title,
        ["classifier", "raw", "auto", "best single peer", "oracle of the peers"],
        rows,
        "Mean log loss over the data sets. The best single peer is the best method of other "
        "packages that never failed. The oracle picks the best of raw and all peers for each data "
        "set, with hindsight.",
        reference_name="name",
    )


def make_sizes_table(losses_by_experiment: Mapping[str, ArenaLosses]) -> Table:
    """Return one row per classifier: auto and the oracle of the peers in every experiment."""
    titles = [classifier.title for classifier in CLASSIFIERS.values()]
    rows = {title: [Cell(title)] for title in [*titles, ALL]}
    for losses in losses_by_experiment.values():
        _check_has_auto(losses)
        auto, oracle = losses.mean_log_loss[:, losses.methods.index(AUTO)], _oracle(losses)
        for title, kept in _cases_by_classifier(losses).items():
            means = auto[kept].mean(), oracle[kept].mean()
            rows[title] += [Cell(f"{mean:.4f}", bold=mean == min(means)) for mean in means]
    columns = [f"{who}, {name}" for name in losses_by_experiment for who in (AUTO, "oracle")]
    return Table(
        "The default and an oracle of the peers",
        ["classifier", *columns],
        [row for row in rows.values() if len(row) == len(columns) + 1],
        "Mean log loss over the data sets. The oracle picks the best of raw and all peers for each "
        "data set, with hindsight. Data sets with too few rows for a size are left out.",
    )


def make_svc_table(losses_by_experiment: Mapping[str, ArenaLosses]) -> Table:
    """Return one row per replacement of ``SVC(probability=True)``: its log loss by experiment."""
    means: dict[str, list[float]] = {}
    for losses in losses_by_experiment.values():
        kept = [i for i, case in enumerate(losses.cases) if case.classifier == "svm"]
        for name in SVC_REPLACEMENTS:
            log_loss = losses.mean_log_loss[kept, losses.methods.index(name)]
            means.setdefault(name, []).append(float(log_loss.mean()))
    least = np.nanmin(list(means.values()), axis=0)
    return Table(
        "Probabilities of a support vector machine",
        ["method", *losses_by_experiment],
        [
            [
                Cell(f"`{SVC_REPLACEMENTS[name]}`"),
                *(
                    Cell(MISSING if np.isnan(mean) else f"{mean:.4f}", bold=mean == best)
                    for mean, best in zip(row, least, strict=True)
                ),
            ]
            for name, row in means.items()
        ],
        "Mean log loss over the data sets, with an RBF kernel. Data sets with too few rows for a "
        f"size are left out. {MISSING}: failed on some.",
    )


def make_harmed_table(losses: ArenaLosses, title: str) -> Table:
    """Return the cases in which auto is worse than raw, worst first."""
    _check_has_auto(losses)
    raw, auto = (losses.mean_log_loss[:, losses.methods.index(name)] for name in (RAW, AUTO))
    return Table(
        title,
        ["case", "raw", "auto", "change"],
        plain_rows(
            (
                _case_title(losses, i),
                f"{raw[i]:.4f}",
                f"{auto[i]:.4f}",
                f"{auto[i] / raw[i] - 1:+.1%}",
            )
            for i in np.argsort(raw / auto)
            if auto[i] > raw[i]
        ),
        "Log loss, mean of the folds.",
    )


def make_harm_table(losses_by_experiment: Mapping[str, ArenaLosses]) -> Table:
    """Return one row per experiment: how many cases auto harms, and by how much."""
    rows = []
    for name, losses in losses_by_experiment.items():
        _check_has_auto(losses)
        column = {method: index for index, method in enumerate(losses.methods)}
        log_loss = losses.mean_log_loss
        ratio = log_loss / log_loss[:, [column[RAW]]]
        auto = ratio[:, column[AUTO]]
        is_worse = _significant_signs(losses, column[AUTO]) > 0
        worst = int(np.argmax(np.where(is_worse, auto, -np.inf)))
        # A peer that failed in some case cannot be compared.
        by_peer = {
            peer: np.count_nonzero(ratio[:, column[peer]] > SLIGHT_HARM)
            for peer in PEERS
            if peer in column and not np.isnan(ratio[:, column[peer]]).any()
        }
        least = min(by_peer, key=lambda peer: by_peer[peer], default=None)
        rows.append(
            [
                *(Cell(str(value)) for value in (name, len(auto))),
                Cell(str(np.count_nonzero(auto > SLIGHT_HARM))),
                Cell(str(np.count_nonzero(auto > CLEAR_HARM))),
                Cell(str(np.count_nonzero(is_worse))),
                Cell(f"{auto[worst] - 1:.2%}", reference=_case_title(losses, worst))
                if is_worse.any()
                else Cell(MISSING),
                Cell(MISSING) if least is None else Cell(str(by_peer[least]), reference=least),
            ]
        )
    return Table(
        "Cases in which the default is worse than no calibration",
        [
            "experiment",
            "cases",
            "> 0.5% worse",
            "> 2% worse",
            "significantly worse",
            "by at most",
            "> 0.5% worse, least harmful peer",
        ],
        rows,
        "Log loss, mean of the folds. Significance: corrected resampled t-test, 5%. By at most: "
        "the largest of the significant differences. The least harmful peer is among those that "
        "never failed.",
        reference_name="name",
    )


def make_splits_tables(losses_by_experiment: Mapping[str, ArenaLosses]) -> list[Table]:
    """Return a table of the kinds of splits in all experiments, and one for each experiment."""
    parts = [_make_splits_table({name: each}, name) for name, each in losses_by_experiment.items()]
    if len(parts) > 1:
        parts.insert(0, _make_splits_table(losses_by_experiment, "Kinds of splits"))
    return parts


def _make_splits_table(losses_by_experiment: Mapping[str, ArenaLosses], title: str) -> Table:
    """Return one row per method: its log loss and time relative to the default, and its harm."""
    every = list(losses_by_experiment.values())
    methods = every[0].methods
    raw = methods.index(RAW)
    log_loss = np.concatenate([losses.mean_log_loss for losses in every])
    seconds = np.concatenate([losses.seconds for losses in every])
    experiment = np.repeat(list(losses_by_experiment), [len(losses.cases) for losses in every])
    classifier = np.array([case.classifier for losses in every for case in losses.cases])
    groups = {
        **{name: experiment == name for name in losses_by_experiment if len(every) > 1},
        **{name: classifier == name for name in CLASSIFIERS if name in classifier},
        "all": np.ones(len(classifier), dtype=bool),
    }
    default = methods.index(DEFAULT_SPLITS)
    loss_ratio = [_geometric_mean_ratio(log_loss[group], default) for group in groups.values()]
    time_ratio = _geometric_mean_ratio(seconds, default)
    rows = []
    for index in np.argsort(loss_ratio[-1]):
        harm = log_loss[:, index] / log_loss[:, raw]
        rows.append(
            [
                Cell(methods[index]),
                *(Cell(f"{ratio[index] - 1:+z.1%}") for ratio in loss_ratio),
                Cell(_percentage(harm > SLIGHT_HARM)),
                Cell(_percentage(harm > CLEAR_HARM)),
                Cell(f"{time_ratio[index]:.2f}"),
            ]
        )
    n_draws = ", ".join(
        f"{len(each.folds)} ({name})" for name, each in losses_by_experiment.items()
    )
    return Table(
        title,
        ["splits", *groups, "> 0.5% worse than raw", "> 2% worse", "time"],
        rows,
        f"Log loss and time (to fit and predict) relative to the default, {DEFAULT_SPLITS}: "
        "geometric means over cases, each a classifier on a data set. "
        f"Cases: {len(log_loss)}. Draws: {n_draws}. Raw: uncalibrated. Monte Carlo: percentage of "
        "training rows. No votes: ensemble=False. At most 20 models vote. "
        f"{_describe_versions(every[0].versions)}",
    )


def _geometric_mean_ratio(values: FloatArray, reference: int) -> FloatArray:
    """Return the geometric mean of the ratios of each column to a column of reference."""
    return np.exp(np.log(values / values[:, [reference]]).mean(axis=0))


def make_losses_table(losses: ArenaLosses, title: str) -> Table:
    """Return the losses of every run as data."""
    return Table(
        title,
        ["classifier", "data_set", "method", "fold", "log_loss", "brier"],
        plain_rows(
            (
                *case,
                method,
                fold,
                f"{losses.log_loss[i, j, k]:.5g}",
                f"{losses.brier[i, j, k]:.5g}",
            )
            for i, case in enumerate(losses.cases)
            for j, method in enumerate(losses.methods)
            for k, fold in enumerate(losses.folds)
            if losses.was_run[i, j, k]
        ),
    )


def _cases_by_classifier(losses: ArenaLosses) -> dict[str, list[int]]:
    """Return the positions of the cases of each classifier, by its title, and of all cases."""
    found = {
        classifier.title: [i for i, case in enumerate(losses.cases) if case.classifier == name]
        for name, classifier in CLASSIFIERS.items()
    }
    return {title: kept for title, kept in found.items() if kept} | {
        ALL: list(range(len(losses.cases)))
    }


def _peers(losses: ArenaLosses) -> list[str]:
    return [name for name in (*PEERS, *SVM_PEERS) if name in losses.methods]


def _oracle(losses: ArenaLosses) -> FloatArray:
    """Return the lowest mean log loss of raw and the peers in each case."""
    columns = [losses.methods.index(name) for name in (RAW, *_peers(losses))]
    return np.nanmin(losses.mean_log_loss[:, columns], axis=1)


def _check_has_auto(losses: ArenaLosses) -> None:
    if AUTO not in losses.methods:
        raise ValueError(
            f"This table requires runs of the method {AUTO!r}, got runs of "
            f"{', '.join(losses.methods)}. Choose --table methods."
        )


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else np.nan


def _percentage(mask: BoolArray) -> str:
    return f"{mask.mean():.0%}" if len(mask) else MISSING


def _case_title(losses: ArenaLosses, index: int) -> str:
    case = losses.cases[index]
    return f"{CLASSIFIERS[case.classifier].title}, {case.data_set}"


def _describe_versions(versions: Mapping[str, list[str]]) -> str:
    """Say which versions the runs come from, and warn if they are mixed."""
    listed = ", ".join(f"{package} {' and '.join(found)}" for package, found in versions.items())
    is_mixed = any(len(found) > 1 for found in versions.values())
    warning = " The runs come from different versions and are not comparable." if is_mixed else ""
    return f"Versions: {listed}.{warning}"


def _significant_signs(losses: ArenaLosses, method: int) -> IndexArray:
    """Return 1 for cases in which a method is significantly worse than raw, -1 for better."""
    signs = np.zeros(len(losses.cases), dtype=np.intp)
    raw = losses.methods.index(RAW)
    for case, log_loss in enumerate(losses.log_loss):
        if method == raw or np.isnan(log_loss[method]).any() or log_loss.shape[1] < 2:
            continue
        test_ratio = None if losses.test_ratio is None else losses.test_ratio[case]
        comparison = corrected_t_test(log_loss[method], log_loss[raw], test_ratio)
        if comparison.is_significant():
            signs[case] = np.sign(comparison.difference)
    return signs


TABLES = {
    "methods": TableType(
        "one row per method: losses, ranks, harm and failures", make_methods_table
    ),
    "classifiers": TableType(
        "one row per classifier: the default and the best peer", make_classifiers_table
    ),
    "harmed": TableType(
        "cases in which the default is worse than no calibration", make_harmed_table
    ),
    "losses": TableType("losses of every run", make_losses_table),
}
# Tables of all sizes.
TABLES_OF_ALL = {
    "sizes": TableType("the default and an oracle of the peers by size", make_sizes_table),
    "svc": TableType("replacements of SVC(probability=True) by size", make_svc_table),
    "harm": TableType("how often the default is worse than no calibration", make_harm_table),
}
SPLITS = TableType("log loss, harm and time by kind of splits", make_splits_tables)
