"""Strategies, which split a problem with K classes into scoring problems and combine them."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from calibrant._core.coupling import COUPLINGS
from calibrant._core.rowwise import repeat_frequencies, row_maxima
from calibrant._core.typing import CodeMatrix, FloatArray
from calibrant.combination import couple_pairs, decode, normalize

logger = logging.getLogger(__name__)


# An exhaustive code has 2^(K-1) - 1 problems: 511 for ten classes.
MAX_EXHAUSTIVE_CLASSES = 10
# A random code is the best of this many draws.
N_CODE_DRAWS = 200
# Two classes form one problem, with the second class on the positive side.
TWO_CLASS_CODE: CodeMatrix = np.array([[-1], [1]], dtype=np.int8)


class Strategy(ABC):
    """Base class of strategies.

    A strategy splits a problem with K classes into scoring problems and combines their
    probabilities into class probabilities.

    Attributes
    ----------
    binary : bool
        Whether the scoring problems are binary.
    """

    binary = True

    @abstractmethod
    def code(self, n_classes: int, rng: np.random.RandomState) -> CodeMatrix | None:
        """Return the code matrix of the scoring problems.

        Parameters
        ----------
        n_classes : int
            The number of classes, at least 2.
        rng : RandomState
            The source of randomness.

        Returns
        -------
        ndarray of shape (n_classes, n_problems) or None
            1 for classes on the positive side of a problem, -1 for classes on the negative
            side, 0 for classes left out. None means one multi-class problem.
        """

    @abstractmethod
    def combine(
        self,
        probas: Sequence[FloatArray],
        code: CodeMatrix | None,
        class_count: FloatArray,
        fallback: Sequence[FloatArray] | None = None,
    ) -> FloatArray:
        """Combine the probabilities of the problems into class probabilities.

        Parameters
        ----------
        probas : list of ndarray
            For each binary problem, the probability of its positive side, of shape
            (n_samples,); for a multi-class problem, one array of shape
            (n_samples, n_classes).
        code : ndarray of shape (n_classes, n_problems) or None
            The code matrix of the problems.
        class_count : ndarray of shape (n_classes,)
            The weighted number of training rows in each class.
        fallback : list of ndarray, default=None
            Uncalibrated probabilities of the problems, used for rows in which all
            probabilities are 0. ``None`` means the class frequencies.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Class probabilities; each row sums to 1.
        """


@dataclass(frozen=True)
class Direct(Strategy):
    """One multi-class problem, with one model for all classes."""

    binary = False

    def code(self, n_classes: int, rng: np.random.RandomState) -> None:
        """Return None, which means one multi-class problem."""
        return

    def combine(
        self,
        probas: Sequence[FloatArray],
        code: CodeMatrix | None,
        class_count: FloatArray,
        fallback: Sequence[FloatArray] | None = None,
    ) -> FloatArray:
        """Normalize the probabilities of the multi-class problem."""
        return _normalize(probas[0], class_count, None if fallback is None else fallback[0])


class _BinaryProba(NamedTuple):
    """Arguments of `Strategy.combine`, with one column per binary problem."""

    proba: FloatArray
    code: CodeMatrix
    class_count: FloatArray
    fallback: FloatArray | None


class BinaryStrategy(Strategy):
    """Base class of strategies whose code matrix defines binary problems.

    Two classes always form one problem. Subclasses handle three or more.
    """

    def code(self, n_classes: int, rng: np.random.RandomState) -> CodeMatrix:
        """Return the code matrix, of shape (n_classes, n_problems)."""
        return TWO_CLASS_CODE if n_classes == 2 else self._code(n_classes, rng)

    def combine(
        self,
        probas: Sequence[FloatArray],
        code: CodeMatrix | None,
        class_count: FloatArray,
        fallback: Sequence[FloatArray] | None = None,
    ) -> FloatArray:
        """Combine the probabilities of the positive sides into class probabilities."""
        if code is None or len(code) == 2:
            return np.column_stack([1.0 - probas[0], probas[0]])
        columns = None if fallback is None else np.column_stack(fallback)
        return self._combine(_BinaryProba(np.column_stack(probas), code, class_count, columns))

    @abstractmethod
    def _code(self, n_classes: int, rng: np.random.RandomState) -> CodeMatrix:
        """Return the code matrix for three or more classes."""

    @abstractmethod
    def _combine(self, problems: _BinaryProba) -> FloatArray:
        """Return the class probabilities for three or more classes."""


@dataclass(frozen=True)
class OneVsRest(BinaryStrategy):
    """One problem per class: that class against all others.

    The probabilities are combined by `calibrant.combination.normalize`. Rows in which all of
    them are 0 get the uncalibrated probabilities or, if there are none, the class frequencies;
    the number of such rows is logged.
    """

    def _code(self, n_classes: int, rng: np.random.RandomState) -> CodeMatrix:
        return (2 * np.eye(n_classes) - 1).astype(np.int8)

    def _combine(self, problems: _BinaryProba) -> FloatArray:
        return _normalize(problems.proba, problems.class_count, problems.fallback)


@dataclass(frozen=True)
class AllPairs(BinaryStrategy):
    """One problem per pair of classes, fitted on the rows of these two classes.

    The probabilities are combined by `calibrant.combination.couple`.

    Parameters
    ----------
    coupling : str, default="wu-lin-weng"
        The coupling method. "hastie-tibshirani" weights each pair by its number of training
        rows.
    """

    coupling: str = "wu-lin-weng"

    def __post_init__(self) -> None:
        _check_choice("coupling", self.coupling, COUPLINGS, "wu-lin-weng")

    def _code(self, n_classes: int, rng: np.random.RandomState) -> CodeMatrix:
        negative, positive = np.triu_indices(n_classes, 1)
        code = np.zeros((n_classes, len(positive)), dtype=np.int8)
        problems = np.arange(len(positive))
        code[positive, problems] = 1
        code[negative, problems] = -1
        return code

    def _combine(self, problems: _BinaryProba) -> FloatArray:
        # The first class of a pair is on the negative side of its problem.
        return couple_pairs(1.0 - problems.proba, problems.class_count, self.coupling)


@dataclass(frozen=True)
class OutputCode(BinaryStrategy):
    """The problems of an error-correcting output code.

    The probabilities are combined by `calibrant.combination.decode`.

    Parameters
    ----------
    kind : {"exhaustive", "random-dense", "random-sparse"}, default="exhaustive"
        The code. "exhaustive" uses every division of the classes into two sides and supports
        at most ten classes; "random-dense" uses random divisions; "random-sparse" may also
        leave classes out of a problem.
    n_problems : int, default=None
        The number of problems in a random code, at most the number of distinct ones.
        ``None`` means 10 log2(K) for dense and 15 log2(K) for sparse codes, rounded up, as in
        [1]_.

    References
    ----------
    .. [1] E. L. Allwein, R. E. Schapire and Y. Singer, "Reducing multiclass to binary:
           a unifying approach for margin classifiers", JMLR 1, 2000.
    """

    kind: str = "exhaustive"
    n_problems: int | None = None

    def __post_init__(self) -> None:
        _check_choice(
            "kind", self.kind, ("exhaustive", "random-dense", "random-sparse"), "exhaustive"
        )
        if self.n_problems is not None and (self.kind == "exhaustive" or self.n_problems < 1):
            raise ValueError(
                f"n_problems must be positive and requires a random code, got {self.n_problems} "
                f"with kind={self.kind!r}. Omit it to use the default number."
            )

    def _code(self, n_classes: int, rng: np.random.RandomState) -> CodeMatrix:
        if self.kind == "exhaustive":
            return _exhaustive_code(n_classes)
        dense = self.kind == "random-dense"
        n_problems = self.n_problems or int(np.ceil((10 if dense else 15) * np.log2(n_classes)))
        return _random_code(n_classes, n_problems, (-1, 1) if dense else (-1, 0, 1), rng)

    def _combine(self, problems: _BinaryProba) -> FloatArray:
        return decode(problems.proba, problems.code)


STRATEGIES: dict[str, type[Strategy]] = {
    "one-vs-rest": OneVsRest,
    "all-pairs": AllPairs,
    "output-code": OutputCode,
    "direct": Direct,
}


def resolve_strategy(strategy: str | Strategy) -> Strategy:
    """Return the strategy selected by ``strategy``.

    Parameters
    ----------
    strategy : str or Strategy
        A key of `STRATEGIES`, "auto" for "direct", or an instance, which is returned unchanged.

    Returns
    -------
    Strategy
        The strategy.
    """
    if isinstance(strategy, str):
        _check_choice("strategy", strategy, ("auto", *STRATEGIES), "auto")
        return Direct() if strategy == "auto" else STRATEGIES[strategy]()
    if not isinstance(strategy, Strategy):
        raise ValueError(
            f"strategy must be one of {sorted(STRATEGIES)} or an instance of a class in "
            f"calibrant.strategies, got {strategy!r}. Pass an instance such as AllPairs()."
        )
    return strategy


def _check_choice(name: str, value: str, choices: Iterable[str], default: str) -> None:
    allowed = sorted(choices)
    if value not in allowed:
        raise ValueError(
            f"{name} must be one of {allowed}, got {value!r}. Omit it to use {default!r}."
        )


def _normalize(
    proba: FloatArray, class_count: FloatArray, fallback: FloatArray | None
) -> FloatArray:
    n_zero = np.count_nonzero(row_maxima(proba) == 0)
    if n_zero:
        logger.info("all probabilities are 0 in %d of %d rows", n_zero, len(proba))
        if fallback is None:
            fallback = repeat_frequencies(class_count, len(proba))
    return normalize(proba, fallback)


def _exhaustive_code(n_classes: int) -> CodeMatrix:
    if n_classes > MAX_EXHAUSTIVE_CLASSES:
        raise ValueError(
            f"An exhaustive output code supports at most {MAX_EXHAUSTIVE_CLASSES} classes, got "
            f"{n_classes}, which would require {2 ** (n_classes - 1) - 1} problems. "
            "Use strategy=OutputCode('random-dense') or OutputCode('random-sparse')."
        )
    # Keeping the last class on the positive side makes all divisions distinct.
    splits = np.arange(2 ** (n_classes - 1) - 1)
    bits = (splits >> np.arange(n_classes - 1)[:, None]) & 1
    return np.vstack([2 * bits - 1, np.ones_like(splits)]).astype(np.int8)


def _random_code(
    n_classes: int, n_problems: int, symbols: tuple[int, ...], rng: np.random.RandomState
) -> CodeMatrix:
    """Draw several codes and return the one that separates its two closest classes best."""
    dense = 0 not in symbols
    n_distinct = (
        2 ** (n_classes - 1) - 1 if dense else (3**n_classes - 2 ** (n_classes + 1) + 1) // 2
    )
    n_problems = min(n_problems, n_distinct)
    best, best_distance = None, -1
    for _ in range(N_CODE_DRAWS):
        code = _draw_distinct_columns(n_classes, n_problems, symbols, rng)
        apart = (code[:, None, :] * code[None, :, :] == -1).sum(axis=2)
        distance = apart[np.triu_indices(n_classes, 1)].min()
        if distance > best_distance:
            best, best_distance = code, distance
    if best is None or best_distance == 0:
        raise ValueError(
            f"n_problems must be large enough to distinguish all {n_classes} classes, got "
            f"{n_problems}. Raise it, or omit it to use the default number."
        )
    return best


def _draw_distinct_columns(
    n_classes: int, n_problems: int, symbols: tuple[int, ...], rng: np.random.RandomState
) -> CodeMatrix:
    """Draw distinct two-sided problems, ignoring which of the two sides is positive."""
    columns: dict[bytes, CodeMatrix] = {}
    while len(columns) < n_problems:
        column = rng.choice(symbols, size=n_classes).astype(np.int8)
        if column.max() < 1 or column.min() > -1:
            continue
        # The last class in a problem is on its positive side, as in the exhaustive code.
        column *= column[np.flatnonzero(column)[-1]]
        columns.setdefault(column.tobytes(), column)
    return np.column_stack(list(columns.values()))
