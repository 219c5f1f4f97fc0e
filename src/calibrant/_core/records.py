"""Result records: frozen dataclasses that convert to plain values and describe themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from html import escape
from math import isfinite
from typing import Any, ClassVar

import numpy as np


class Record:
    """Base class of result records, each a frozen dataclass."""

    # Names of properties to convert together with the fields.
    DERIVED: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, and what is derived from them, as plain values.

        Returns
        -------
        dict
            Numbers, strings, lists and dictionaries only; arrays become nested lists. NaN and
            infinities, which JSON does not have, become None.
        """
        names = [item.name for item in fields(self)]  # type: ignore[arg-type]
        return {name: _plain(getattr(self, name)) for name in (*names, *self.DERIVED)}

    def __str__(self) -> str:
        values = "\n".join(f"  {name}: {_brief(value)}" for name, value in self._shown())
        return f"{type(self).__name__}\n{values}"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(_brief(value))}</td></tr>"
            for name, value in self._shown()
        )
        return f"<table><caption>{escape(type(self).__name__)}</caption>{rows}</table>"

    def _shown(self) -> list[tuple[str, Any]]:
        """Return the fields to show to a reader, in order."""
        return [(item.name, getattr(self, item.name)) for item in fields(self)]  # type: ignore[arg-type]


@dataclass(frozen=True)
class Interval(Record):
    """An estimate with its confidence interval.

    Unpacks to the two ends: ``low, high = interval``.

    Attributes
    ----------
    estimate : float
        The estimate.
    low, high : float
        The ends of the interval.
    level : float
        The confidence level.
    """

    estimate: float
    low: float
    high: float
    level: float = 0.95

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __str__(self) -> str:
        return f"{self.estimate:.4g} ({self.level:.0%} CI {self.low:.4g} to {self.high:.4g})"

    def _repr_html_(self) -> str:
        return escape(str(self))


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float | np.floating):
        return float(value) if isfinite(value) else None
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    return value


def _brief(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray) and value.size > 8:
        return f"array of shape {value.shape}"
    if isinstance(value, list | tuple):
        return ", ".join(_brief(item) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_brief(item)}" for key, item in value.items())
    return " ".join(str(value).split())
