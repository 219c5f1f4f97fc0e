"""The language in which `declarations` say what a model file may contain.

A specification describes one attribute of a fitted model: an array of a kind and a shape, a number
in a range, a label, a fitted part. Shapes are given by named sizes, such as ``"n_features"``. A
name stands for the same number throughout one object; the first array that mentions it decides,
unless the object states it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from calibrant.persistence.refusals import (
    RefusedPartError,
    brief,
    check_labels,
    check_scalar,
    check_text,
)

# Squares, and products with such numbers of features, are still finite.
LARGEST = 1e100
Size = str | int
# Of sums of probabilities.
ROUNDING = 1e-6


class Checker(Protocol):
    """What a specification needs to know of the object that it is checked in."""

    sizes: dict[str, int]

    def check_part(self, value: Any, part: str, *, fitted: bool) -> Checker:
        """Check an object against the declaration of its type, and return its sizes."""

    def is_declared(self, value: Any) -> bool:
        """Return whether a value is an object of a declared type."""


@dataclass(frozen=True)
class Specification(ABC):
    """What a value must be."""

    def check(self, value: Any, part: str, checker: Checker) -> None:
        """Raise a `RefusedPartError` unless the value is as specified.

        Parameters
        ----------
        value : object
            The value.
        part : str
            Where it is, for the message.
        checker : Checker
            The sizes of the object that it belongs to.
        """
        self._check(value, part, checker)

    @abstractmethod
    def _check(self, value: Any, part: str, checker: Checker) -> None: ...


@dataclass(frozen=True)
class Constant(Specification):
    """One of the given plain values."""

    values: tuple[Any, ...]

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        if not any(type(value) is type(allowed) and value == allowed for allowed in self.values):
            raise RefusedPartError(part, f"must be one of {self.values}, got {brief(value)}")


NOTHING = Constant((None,))
FLAG = Constant((False, True))


@dataclass(frozen=True)
class Number(Specification):
    """A finite number of plain Python or of numpy in a range."""

    low: float = -LARGEST
    high: float = LARGEST

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        number = value.item() if isinstance(value, np.integer | np.floating) else value
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if not is_number or not self.low <= number <= self.high:
            raise RefusedPartError(
                part, f"must be a number from {self.low} to {self.high}, got {brief(value)}"
            )


@dataclass(frozen=True)
class Integer(Specification):
    """A whole number in a range, or equal to a named size."""

    low: int = 0
    high: int = 2**64
    size: str | None = None

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not is_integer or not self.low <= value <= self.high:
            raise RefusedPartError(
                part, f"must be an integer from {self.low} to {self.high}, got {brief(value)}"
            )
        if self.size is not None:
            bind(self.size, int(value), part, checker)


@dataclass(frozen=True)
class Text(Specification):
    """A string without control characters, which could make a terminal do what a file says."""

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        check_text(value, part)


@dataclass(frozen=True)
class Array(Specification):
    """A dense array of numbers.

    Attributes
    ----------
    shape : tuple of str or int or None
        The sizes by name or number. ``None`` means any shape.
    kinds : str
        The kinds of numbers, as numpy's codes: f, i, u, b.
    low, high : float
        The range of the values.
    finite : bool
        Whether NaN and infinities are refused.
    increasing : bool
        Whether values must not decrease.
    """

    shape: tuple[Size, ...] | None
    kinds: str = "f"
    low: float = -LARGEST
    high: float = LARGEST
    finite: bool = True
    increasing: bool = False

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in self.kinds:
            raise RefusedPartError(
                part, f"must be an array of kind {self.kinds!r}, got {brief(value)}"
            )
        is_half = value.dtype.kind == "f" and value.dtype.itemsize not in (4, 8)
        if is_half or not value.dtype.isnative:
            raise RefusedPartError(part, f"must have single or double precision, got {value.dtype}")
        check_shape(self.shape, value.shape, part, checker)
        if self.finite and value.size and value.dtype.kind != "b":
            # As numbers of Python: numpy would round the limits to the precision of the array.
            low, high = value.min().item(), value.max().item()
            if not (self.low <= low and high <= self.high):
                raise RefusedPartError(
                    part, f"must have values from {self.low} to {self.high}, got {low} to {high}"
                )
        if self.increasing and np.any(value[1:] < value[:-1]):
            raise RefusedPartError(part, "must be in increasing order")


@dataclass(frozen=True)
class Distribution(Array):
    """An array of probabilities that sum to 1."""

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        super()._check(value, part, checker)
        if abs(value.sum() - 1) > ROUNDING:
            raise RefusedPartError(part, f"must sum to 1, got {value.sum()}")


@dataclass(frozen=True)
class Labels(Specification):
    """Distinct class labels or categories: numbers, text or dates."""

    size: str = "n_classes"
    fewest: int = 1
    missing: bool = False  # categories may include NaN and None

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        if not isinstance(value, np.ndarray) or value.ndim != 1 or len(value) < self.fewest:
            raise RefusedPartError(
                part, f"must be an array of at least {self.fewest} labels, got {brief(value)}"
            )
        check_labels(value, part)
        bind(self.size, len(value), part, checker)
        items = value.tolist()
        if not self.missing and (None in items or any(item != item for item in items)):
            raise RefusedPartError(part, "must not have missing labels")
        if len(set(items)) != len(items):
            raise RefusedPartError(part, "must have distinct labels")


@dataclass(frozen=True)
class ListOf(Specification):
    """A list, a tuple or an array of objects, whose items are all as specified."""

    item: Specification
    length: Size | None = None

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        is_array = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == object
        if not is_array and type(value) not in (list, tuple):
            raise RefusedPartError(part, f"must be a list, got {brief(value)}")
        if self.length is not None:
            bind(self.length, len(value), part, checker)
        for number, item in enumerate(value):
            self.item.check(item, f"{part}[{number}]", checker)


@dataclass(frozen=True)
class DictOf(Specification):
    """A dictionary from text or numbers to values that are all as specified."""

    value: Specification

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        if type(value) is not dict:
            raise RefusedPartError(part, f"must be a dictionary, got {brief(value)}")
        for key, item in value.items():
            check_scalar(key, f"A key of {part}")
            self.value.check(item, f"{part}[{key!r}]", checker)


@dataclass(frozen=True)
class Part(Specification):
    """An object of a declared type, with its own declaration.

    Attributes
    ----------
    kinds : tuple of type
        The types. Empty means any declared estimator.
    shares : tuple of str
        Named sizes that it has in common with the object that it is part of.
    fitted : bool
        Whether it must be fitted.
    methods : tuple of str
        Methods of which it must have at least one. Empty means that it needs none.
    """

    kinds: tuple[type, ...] = ()
    shares: tuple[str, ...] = ()
    fitted: bool = True
    methods: tuple[str, ...] = ()

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        is_kind = type(value) in self.kinds if self.kinds else isinstance(value, BaseEstimator)
        if not checker.is_declared(value) or not is_kind:
            wanted = " or ".join(kind.__name__ for kind in self.kinds) or "a supported estimator"
            raise RefusedPartError(part, f"must be {wanted}, got {brief(value)}")
        inner = checker.check_part(value, part, fitted=self.fitted)
        if self.methods and not any(hasattr(value, method) for method in self.methods):
            raise RefusedPartError(part, f"must have {' or '.join(self.methods)}")
        for name in self.shares:
            if name in inner.sizes:
                bind(name, inner.sizes[name], part, checker)


@dataclass(frozen=True)
class OneOf(Specification):
    """A value that is as one of several specifications."""

    choices: tuple[Specification, ...]

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        sizes = dict(checker.sizes)
        for number, choice in enumerate(self.choices):
            try:
                return choice.check(value, part, checker)
            except RefusedPartError:
                checker.sizes.clear()
                checker.sizes.update(sizes)
                if number == len(self.choices) - 1:
                    raise
        return None


@dataclass(frozen=True)
class Plain(Specification):
    """Plain values, arrays of them and declared objects, at any depth.

    This is for parameters, which scikit-learn checks itself, and for notes on the training that
    predictions do not use.
    """

    objects: bool = False

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        if isinstance(value, np.ndarray):
            items = value.ravel().tolist() if value.dtype == object else []
            if value.dtype != object and value.dtype.kind not in "biufUSM":
                raise RefusedPartError(part, f"must not be an array of type {value.dtype}")
            if value.dtype.kind == "U":
                check_labels(value.ravel(), part)
        elif type(value) in (list, tuple):
            items = value
        elif type(value) is dict:
            for key in value:
                check_scalar(key, f"A key of {part}")
            items = list(value.values())
        elif type(value) is slice:
            items = [value.start, value.stop, value.step]
        elif self.objects and checker.is_declared(value):
            checker.check_part(value, part, fitted=False)
            items = []
        elif isinstance(value, np.dtype) or value in ALLOWED_VALUES:
            items = []
        else:
            check_scalar(value, part)
            items = []
        for number, item in enumerate(items):
            self.check(item, f"{part}[{number}]", checker)


class _Allowed:
    """Types and functions that may be the values of parameters."""

    def __init__(self) -> None:
        self._paths: dict[str, Any] = {}

    def add(self, path: str, value: Any) -> None:
        self._paths[path] = value

    def __contains__(self, value: Any) -> bool:
        return any(value is allowed for allowed in self._paths.values())

    def paths(self) -> frozenset[str]:
        return frozenset(self._paths)


ALLOWED_VALUES = _Allowed()


def bind(size: Size, length: int, part: str, checker: Checker) -> None:
    """Check a length against a named size, or give the size its value; the size "*" is any."""
    if size == "*":
        return
    expected = size if isinstance(size, int) else checker.sizes.setdefault(size, length)
    if length != expected or length < 1:
        name = "" if isinstance(size, int) else f"{size} = "
        raise RefusedPartError(part, f"must have size {name}{expected}, got {length}")


def check_shape(
    sizes: tuple[Size, ...] | None, shape: tuple[int, ...], part: str, checker: Checker
) -> None:
    """Check a shape against named sizes."""
    if sizes is None:
        return
    if len(shape) != len(sizes):
        raise RefusedPartError(part, f"must have {len(sizes)} dimensions, got {len(shape)}")
    for size, length in zip(sizes, shape, strict=True):
        bind(size, length, part, checker)
