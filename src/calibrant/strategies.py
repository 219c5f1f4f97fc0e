"""K classes -> scoring problems: code matrices and how their answers are combined."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._core.rowwise import row_maxima
from calibrant._core.typing import CodeMatrix, FloatArray
from calibrant.combination import COUPLINGS, couple_pairs, decode, normalize

logger = logging.getLogger(__name__)


# An exhaustive code has 2^(K-1) - 1 problems: 511 for ten classes.
MOST_EXHAUSTIVE_CLASSES = 10
# Random codes are the best of this many draws.
N_DRAWS = 200


# Two classes are one problem, with the second class on the positive side.
TWO_CLASSES: CodeMatrix = np.array([[-1], [1]], dtype=np.int8)


class Strategy(ABC):
    """A way to break K classes into scoring problems and to put the answers together."""

    binary = True

    @abstractmethod
    def code(self, n_classes: int, rng: np.random.RandomState) -> CodeMatrix | None:
        """Scoring problems for a number of classes.

        Parameters
        ----------
        n_classes : int
            The number of classes, at least 2.
        rng : RandomState
            The source of random codes.

        Returns
        -------
        ndarray of shape (n_classes, n_problems) or None
            1 for classes on the positive side of a problem, -1 for the negative side,
            0 for classes left out. None is one multi-class problem.
        """

    @abstractmethod
    def combine(
        self,
        probas: Sequence[FloatArray],
        code: CodeMatrix | None,
        class_count: FloatArray,
        fallback: Sequence[FloatArray] | None = None,
    ) -> FloatArray:
        """Class probabilities from those of the problems.

        Parameters
        ----------
        probas : list of ndarray
            For each binary problem the probability of its positive side, of shape
            (n_samples,); for the multi-class problem one of shape (n_samples, n_classes).
        code : ndarray of shape (n_classes, n_problems) or None
            The code matrix of the problems.
        class_count : ndarray of shape (n_classes,)
            The weighted number of training rows of each class.
        fallback : list of ndarray, default=None
            Uncalibrated probabilities, for rows that calibration leaves undecided; None is
            the shares of the classes.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows that sum to 1.
        """


class Direct(Strategy):
    """One multi-class problem: one model, calibrated as a whole."""

    binary = False

    def code(self, n_classes: int, rng: np.random.RandomState) -> None:
        """Return None: there are no binary problems."""
        return

    def combine(
        self,
        probas: Sequence[FloatArray],
        code: CodeMatrix | None,
        class_count: FloatArray,
        fallback: Sequence[FloatArray] | None = None,
    ) -> FloatArray:
        """Return the multi-class probabilities, rows made to sum to 1."""
        return _normalize(probas[0], class_count, None if fallback is None else fallback[0])


class BinaryStrategy(Strategy):
    """Binary problems given by a code matrix.

    Two classes are one problem, whatever the code; subclasses see three or more.
    """

    def code(self, n_classes: int, rng: np.random.RandomState) -> CodeMatrix:
        """Return the code matrix, of shape (n_classes, n_problems)."""
        return TWO_CLASSES if n_classes == 2 else self._code(n_classes, rng)

    def combine(
        self,
        probas: Sequence[FloatArray],
        code: CodeMatrix | None,
        class_count: FloatArray,
        fallback: Sequence[FloatArray] | None = None,
    ) -> FloatArray:
        """Return the class probabilities of the problems' ones."""
        if code is None or len(code) == 2:
            return np.column_stack([1.0 - probas[0], probas[0]])
        instead = None if fallback is None else np.column_stack(fallback)
        return self._combine(np.column_stack(probas), code, class_count, instead)

    @abstractmethod
    def _code(self, n_classes: int, rng: np.random.RandomState) -> CodeMatrix: ...

    @abstractmethod
    def _combine(
        self,
        proba: FloatArray,
        code: CodeMatrix,
        class_count: FloatArray,
        fallback: FloatArray | None,
    ) -> FloatArray: ...


@dataclass(frozen=True)
class OneVsRest(BinaryStrategy):
    """One problem a class, that class against all others; combined by normalization.

    Rows in which every problem says 0 fall back on the uncalibrated probabilities, or on
    the shares of the classes where there are none; their number is logged.
    """

    def _code(self, n_classes: int, rng: np.random.RandomState) -> CodeMatrix:
        return (2 * np.eye(n_classes) - 1).astype(np.int8)

    def _combine(
        self,
        proba: FloatArray,
        code: CodeMatrix,
        class_count: FloatArray,
        fallback: FloatArray | None,
    ) -> FloatArray:
        return _normalize(proba, class_count, fallback)


@dataclass(frozen=True)
class AllPairs(BinaryStrategy):
    """One problem a pair of classes; combined by pairwise coupling.

    Parameters
    ----------
    coupling : str, default="wu-lin-weng"
        A method of `calibrant.combination.couple`. "hastie-tibshirani" weights each pair
        by its number of training rows.
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

    def _combine(
        self,
        proba: FloatArray,
        code: CodeMatrix,
        class_count: FloatArray,
        fallback: FloatArray | None,
    ) -> FloatArray:
        # The first class of a pair is on the negative side of its problem.
        return couple_pairs(1.0 - proba, class_count, self.coupling)


@dataclass(frozen=True)
class OutputCode(BinaryStrategy):
    """Problems from an error-correcting output code; combined by Bradley-Terry decoding.

    Parameters
    ----------
    kind : {"exhaustive", "random-dense", "random-sparse"}, default="exhaustive"
        All ways to split the classes in two; or random splits in which each class is
        on one of the sides; or random splits in which it may be left out.
    n_problems : int, default=None
        The number of problems of a random code. None is 10 log2(K) for dense and
        15 log2(K) for sparse codes [1]_. Never more than there are distinct problems.

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
                f"n_problems must be a positive number, for random codes only. Got "
                f"{self.n_problems} with kind={self.kind!r}. Leave it out for the usual number."
            )

    def _code(self, n_classes: int, rng: np.random.RandomState) -> CodeMatrix:
        if self.kind == "exhaustive":
            return _exhaustive_code(n_classes)
        dense = self.kind == "random-dense"
        n_problems = self.n_problems or int(np.ceil((10 if dense else 15) * np.log2(n_classes)))
        return _random_code(n_classes, n_problems, (-1, 1) if dense else (-1, 0, 1), rng)

    def _combine(
        self,
        proba: FloatArray,
        code: CodeMatrix,
        class_count: FloatArray,
        fallback: FloatArray | None,
    ) -> FloatArray:
        return decode(proba, code)


STRATEGIES: dict[str, type[Strategy]] = {
    "one-vs-rest": OneVsRest,
    "all-pairs": AllPairs,
    "output-code": OutputCode,
    "direct": Direct,
}


def resolve_strategy(strategy: str | Strategy) -> Strategy:
    """Return the strategy object behind a name, "auto" being direct; objects pass through."""
    if isinstance(strategy, str):
        _check_choice("strategy", strategy, ("auto", *STRATEGIES), "auto")
        return Direct() if strategy == "auto" else STRATEGIES[strategy]()
    if not isinstance(strategy, Strategy):
        raise ValueError(
            f"strategy must be one of {sorted(STRATEGIES)} or an object of "
            f"calibrant.strategies. Got {strategy!r}. Pass an instance, such as AllPairs()."
        )
    return strategy


def _check_choice(name: str, value: str, choices: Iterable[str], default: str) -> None:
    allowed = sorted(choices)
    if value not in allowed:
        raise ValueError(
            f"{name} must be one of {allowed}. Got {value!r}. Leave it out for {default!r}."
        )


def _normalize(
    proba: FloatArray, class_count: FloatArray, fallback: FloatArray | None
) -> FloatArray:
    undecided = np.count_nonzero(row_maxima(proba) == 0)
    if undecided:
        logger.info("all probabilities are 0 in %d of %d rows", undecided, len(proba))
        if fallback is None:
            fallback = np.tile(class_count / class_count.sum(), (len(proba), 1))
    return normalize(proba, fallback)


def _exhaustive_code(n_classes: int) -> CodeMatrix:
    if n_classes > MOST_EXHAUSTIVE_CLASSES:
        raise ValueError(
            f"An exhaustive output code takes at most {MOST_EXHAUSTIVE_CLASSES} classes. "
            f"Got {n_classes}, which makes {2 ** (n_classes - 1) - 1} problems. "
            "Use strategy=OutputCode('random-dense') or OutputCode('random-sparse')."
        )
    # The last class is on the positive side, so that no split comes twice.
    splits = np.arange(2 ** (n_classes - 1) - 1)
    bits = (splits >> np.arange(n_classes - 1)[:, None]) & 1
    return np.vstack([2 * bits - 1, np.ones_like(splits)]).astype(np.int8)


def _random_code(
    n_classes: int, n_problems: int, symbols: tuple[int, ...], rng: np.random.RandomState
) -> CodeMatrix:
    """Return the random code whose two closest classes are told apart by most problems."""
    dense = 0 not in symbols
    n_distinct = (
        2 ** (n_classes - 1) - 1 if dense else (3**n_classes - 2 ** (n_classes + 1) + 1) // 2
    )
    n_problems = min(n_problems, n_distinct)
    best, best_distance = None, -1
    for _ in range(N_DRAWS):
        code = _distinct_columns(n_classes, n_problems, symbols, rng)
        apart = (code[:, None, :] * code[None, :, :] == -1).sum(axis=2)
        distance = apart[np.triu_indices(n_classes, 1)].min()
        if distance > best_distance:
            best, best_distance = code, distance
    if best is None or best_distance == 0:
        raise ValueError(
            f"n_problems must be enough to tell all {n_classes} classes apart. Got {n_problems}. "
            "Raise it, or leave it out for the usual number."
        )
    return best


def _distinct_columns(
    n_classes: int, n_problems: int, symbols: tuple[int, ...], rng: np.random.RandomState
) -> CodeMatrix:
    """Draw problems with two sides each, none of them the same or the other way round."""
    columns: dict[bytes, CodeMatrix] = {}
    while len(columns) < n_problems:
        column = rng.choice(symbols, size=n_classes).astype(np.int8)
        if column.max() < 1 or column.min() > -1:
            continue
        column *= column[np.flatnonzero(column)[-1]]
        columns.setdefault(column.tobytes(), column)
    return np.column_stack(list(columns.values()))
