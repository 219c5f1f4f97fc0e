"""Arrays of special types that compiled code reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from calibrant.persistence.refusals import RefusedPartError
from calibrant.persistence.specifications import (
    LARGEST,
    Array,
    Checker,
    Size,
    Specification,
    check_shape,
)


@dataclass(frozen=True)
class Dense32(Array):
    """An array of 32-bit integers."""

    kinds: str = "i"
    low: float = 0

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        super()._check(value, part, checker)
        if value.dtype != np.int32:
            raise RefusedPartError(part, f"must have 32-bit integers, got {value.dtype}")


@dataclass(frozen=True)
class Double(Array):
    """An array of double precision."""

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        super()._check(value, part, checker)
        if value.dtype != np.float64:
            raise RefusedPartError(part, f"must have double precision, got {value.dtype}")


@dataclass(frozen=True)
class SparseOrDense(Specification):
    """A matrix, either dense or in CSR format with valid indices.

    Attributes
    ----------
    shape : tuple of str or int
        The sizes by name or number.
    itemsizes : tuple of int
        The sizes of its numbers in bytes.
    """

    shape: tuple[Size, Size] = ("*", "*")
    itemsizes: tuple[int, ...] = (8,)

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        if not sparse.issparse(value):
            Array(self.shape).check(value, part, checker)
        elif value.format != "csr":
            raise RefusedPartError(part, f"must be in csr format, got {value.format}")
        else:
            try:
                value.check_format(full_check=True)
            except ValueError as error:
                raise RefusedPartError(part, f"must have valid indices, but {error}") from None
            Array(("*",)).check(value.data, part, checker)
            check_shape(self.shape, value.shape, part, checker)
        if value.dtype.itemsize not in self.itemsizes:
            raise RefusedPartError(part, f"must have double precision, got {value.dtype}")


@dataclass(frozen=True)
class Nodes(Specification):
    """The nodes of a tree of histogram gradient boosting, an array of records."""

    fields: tuple[str, ...]

    def _check(self, value: Any, part: str, checker: Checker) -> None:
        names = value.dtype.names if isinstance(value, np.ndarray) else None
        if names is None or not set(self.fields) <= set(names) or value.ndim != 1:
            raise RefusedPartError(part, "must be an array of tree nodes")
        for name in self.fields:
            if value[name].dtype.kind not in "iufb":
                raise RefusedPartError(part, "must be an array of numbers")
        if np.any(np.isnan(value["value"])) or np.any(np.abs(value["value"]) > LARGEST):
            raise RefusedPartError(part, "must have finite values")
