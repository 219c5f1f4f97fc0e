"""Costs with the names of classes and decisions."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._core.records import Record
from calibrant._core.typing import FloatArray


@dataclass(frozen=True, eq=False)
class CostTable(Record):
    """The cost of each decision for each true class.

    Attributes
    ----------
    classes : tuple of str
        The true classes, in the order of a model.
    decisions : tuple of str
        Names of the decisions, which may be the classes or anything else.
    costs : ndarray of shape (n_classes, n_decisions)
        The costs.
    """

    classes: tuple[str, ...]
    decisions: tuple[str, ...]
    costs: FloatArray
