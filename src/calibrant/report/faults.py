"""Faults of the data that endanger the answers of a report, and what to do about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibrant._core.phrases import join_phrases

if TYPE_CHECKING:
    from calibrant.tabular import Schema

# The largest number of columns that a sentence names.
MOST_NAMES = 3


@dataclass(frozen=True)
class Fault:
    """A fault of the data, in phrases that the sentences of a report are made of.

    Attributes
    ----------
    topic : str
        Topic of the warning about it.
    point : str
        The fault, as a short clause.
    remedy : str
        What to do first, as an imperative.
    exception : str
        When the fault is none, as a clause after "if".
    change : str
        What is different in the next report, as words after "create the report again".
    options : tuple of str
        Options for the next report.
    """

    topic: str
    point: str
    remedy: str
    exception: str
    change: str = ""
    options: tuple[str, ...] = ()


FAULTS_OF_ROWS = {
    fault.topic: fault
    for fault in (
        Fault(
            "counts",
            point="each row may stand for several cases",
            remedy="repeat each row as often as its count says",
            exception="each row is one case",
        ),
        Fault(
            "totals",
            point="the last row may summarize the others",
            remedy="remove the last row",
            exception="the last row is a case like the others",
        ),
        Fault(
            "duplicates",
            point="rows are repeated",
            remedy="remove the rows that were recorded twice",
            exception="no row was recorded twice",
        ),
    )
}


def find_faults(schema: Schema) -> tuple[Fault, ...]:
    """Find the faults that the warnings about a table name, most important first."""
    advised: dict[str, list[str]] = {}
    for notice in schema.notices:
        if notice.severity == "warning":
            advised.setdefault(notice.topic, []).append(notice.option or "")
    return tuple(
        _describe_fault(topic, options, len(schema.features)) for topic, options in advised.items()
    )


def _describe_fault(topic: str, options: Sequence[str], n_features: int) -> Fault:
    names = [option.partition("=")[2] for option in options]
    if topic == "leakage":
        return _describe_leakage(names, options, n_features)
    if topic == "groups":
        rows = f"rows of the same {names[0]!r}"  # one column of groups is enough
        return Fault(
            topic,
            point=f"{rows} may be related",
            remedy=f"keep {rows} together",
            exception=f"{rows} are unrelated",
            change=f"with {rows} kept together",
            options=(options[0],),
        )
    if topic == "spelling":
        return Fault(
            topic,
            point="some classes differ only in case or spaces",
            remedy="merge the classes that are the same",
            exception="the classes really differ",
            change="with the classes merged",
            options=tuple(options),
        )
    return FAULTS_OF_ROWS[topic]


def _describe_leakage(names: Sequence[str], options: Sequence[str], n_features: int) -> Fault:
    """Describe columns that give the class away, which are left out if others remain."""
    shown = [repr(name) for name in names[:MOST_NAMES]]
    n_more = len(names) - len(shown)
    columns = join_phrases([*shown, f"{n_more} more"] if n_more else shown)
    known = f"{columns} {'is' if len(names) == 1 else 'are'} known when predicting"
    others_remain = len(names) < n_features
    return Fault(
        "leakage",
        point=f"{columns} may give the class away",
        remedy=f"check whether {known}",
        exception=known,
        change=f"without {columns}" if others_remain else "",
        options=tuple(options) if others_remain else (),
    )
