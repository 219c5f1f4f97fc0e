"""Names of classes: whole numbers, spellings of the same name, and rare classes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from calibrant._core.phrases import count
from calibrant.tabular.missing import find_words
from calibrant.tabular.phrases import list_names
from calibrant.tabular.schema import Notice, Severity

# Classes with fewer rows than this are rare.
RARE_CLASS_ROWS = 10
# The class that rare classes become.
OTHER = "other"
WHOLE_NUMBER = re.compile(r"[+-]?\d+(\.0+|,0)?")
DECIMALS = re.compile(r"(\.0+|,0)$")


class RareClasses(StrEnum):
    """What to do with rare classes."""

    keep = "keep"
    merge = "merge"
    drop = "drop"


@dataclass(frozen=True)
class ClassNames:
    """How the names in a target's column become classes.

    Attributes
    ----------
    changed : mapping of str to str or None
        Class by name, for names that are changed. ``None`` means that rows are left out.
    notices : tuple of Notice
        What was changed, and what could be.
    """

    changed: Mapping[str, str | None] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()


def resolve_classes(
    labels: Sequence[str], target: str, *, merge_case: bool, rare_classes: RareClasses
) -> ClassNames:
    """Decide which names of classes to change.

    Parameters
    ----------
    labels : sequence of str
        Names of the classes of all rows, as in the table.
    target : str
        Name of their column.
    merge_case : bool
        Whether names that differ only in case or spaces are the same class.
    rare_classes : RareClasses
        What to do with classes that have few rows.

    Returns
    -------
    ClassNames
        The changes, and notices.
    """
    changed: dict[str, str | None] = {}
    notices: list[Notice] = []
    for step in (
        _name_by_whole_numbers(labels),
        _merge_spellings(labels, target, merge_case=merge_case),
    ):
        changed |= step.changed
        notices += step.notices
    rare = _handle_rare([changed.get(name) or name for name in labels], target, rare_classes)
    for name in set(labels):
        spelled = changed.get(name) or name
        if spelled in rare.changed:
            changed[name] = rare.changed[spelled]
    if words := find_words(name for name in labels if name not in changed):
        verb = "is a class" if len(words) == 1 else "are classes"
        notices.append(
            Notice(
                "classes",
                f"{list_names(words)} {verb} of {target!r} here. If "
                f"{'it stands' if len(words) == 1 else 'they stand'} for a missing value, use "
                f"{' '.join(f'--missing {_quote(word)}' for word in words)}.",
            )
        )
    return ClassNames(changed, (*notices, *rare.notices))


def _name_by_whole_numbers(labels: Sequence[str]) -> ClassNames:
    """Name classes 1, 2, 3 rather than 1.0, 2.0, 3.0, as a column with gaps is often written."""
    names = set(labels)
    decimal = sorted(name for name in names if DECIMALS.search(name))
    if not decimal or not all(map(WHOLE_NUMBER.fullmatch, names)):
        return ClassNames()
    changed = {name: DECIMALS.sub("", name) for name in decimal}
    example = decimal[0]
    text = f"Classes are named by whole numbers: {example!r} is {changed[example]!r}."
    return ClassNames(changed, (Notice("classes", text),))


def _merge_spellings(labels: Sequence[str], target: str, *, merge_case: bool) -> ClassNames:
    spellings: dict[str, list[str]] = defaultdict(list)
    n_rows = Counter(labels)
    for name in sorted(n_rows, key=lambda name: (-n_rows[name], name)):
        spellings[" ".join(name.split()).casefold()].append(name)
    similar = [names for names in spellings.values() if len(names) > 1]
    if not similar:
        return ClassNames()
    if not merge_case:
        listed = "; ".join(_list_with_counts(names, n_rows) for names in similar)
        text = (
            f"Some classes of {target!r} differ only in case or spaces: {listed}. If they are the "
            "same, use --merge-case."
        )
        return ClassNames({}, (Notice("spelling", text, Severity.warning, "--merge-case"),))
    listed = "; ".join(
        f"{_list_with_counts(names[1:], n_rows)} into {names[0]!r} ({n_rows[names[0]]})"
        for names in similar
    )
    text = f"Merged classes of {target!r} that differ only in case or spaces: {listed}."
    changed = {name: names[0] for names in similar for name in names[1:]}
    return ClassNames(changed, (Notice("spelling", text),))


def _handle_rare(labels: Sequence[str], target: str, rare_classes: RareClasses) -> ClassNames:
    n_rows = Counter(labels)
    rare = sorted(name for name, rows in n_rows.items() if rows < RARE_CLASS_ROWS)
    if rare_classes is RareClasses.keep or not rare:
        return ClassNames()
    listed = _list_with_counts(rare, n_rows)
    limit = f"with fewer than {RARE_CLASS_ROWS} rows"
    if rare_classes is RareClasses.drop:
        total = sum(n_rows[name] for name in rare)
        text = (
            f"Left out {count(total, 'row')} of classes of {target!r} {limit}: {listed}. The model "
            "cannot predict these classes."
        )
        return ClassNames(dict.fromkeys(rare, None), (Notice("classes", text),))
    other = next((name for name in n_rows if name.casefold() == OTHER), OTHER)
    if rare == [other] or (len(rare) == 1 and other not in n_rows):
        text = f"{rare[0]!r} is the only class of {target!r} {limit}, so it was not merged."
        return ClassNames({}, (Notice("classes", text),))
    text = f"Merged classes of {target!r} {limit} into {other!r}: {listed}."
    return ClassNames({name: other for name in rare if name != other}, (Notice("classes", text),))


def _list_with_counts(names: Sequence[str], n_rows: Mapping[str, int]) -> str:
    return ", ".join(f"{name!r} ({n_rows[name]})" for name in names)


def _quote(word: str) -> str:
    return f"'{word}'" if " " in word else word
