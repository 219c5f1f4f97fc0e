"""Class shares where a model is used: given as ``class=share``, or estimated from the new rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core.phrases import count
from calibrant._core.records import Record
from calibrant._core.typing import FloatArray
from calibrant.prior_shift import PriorEstimate, adjust_prior, estimate_prior
from calibrant.tabular.cells import as_number
from calibrant.tabular.phrases import list_names, suggest

# Shares that were rounded to two digits are off by up to this, each.
ROUNDING = 0.005
# Estimated shares are used if they differ from the old ones at this level.
ALPHA = 0.05


@dataclass(frozen=True, eq=False)
class Adjustment(Record):
    """Probabilities for another mix of classes.

    Attributes
    ----------
    proba : ndarray of shape (n_rows, n_classes)
        The probabilities, which are those of the model if ``new`` is ``None``.
    classes : tuple of str
        The classes.
    old : tuple of float
        The share of each class among the rows that the model was fitted to.
    new : tuple of float or None
        The share of each class in the new mix. ``None`` means that the estimated shares do not
        differ from the old ones beyond chance.
    estimate : PriorEstimate or None
        The estimate. ``None`` means that the shares were given.
    """

    proba: FloatArray
    classes: tuple[str, ...]
    old: tuple[float, ...]
    new: tuple[float, ...] | None
    estimate: PriorEstimate | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the probabilities as plain values."""
        content = super().to_dict()
        del content["proba"]
        return content

    @property
    def note(self) -> str:
        """What was done, in sentences."""
        changes = ", ".join(
            f"{name!r} {new:.1%} (was {old:.1%})"
            for name, old, new in zip(self.classes, self.old, self.new or (), strict=False)
        )
        if self.estimate is None:
            return f"Adjusted the probabilities to these class shares: {changes}."
        found = ", ".join(
            f"{name!r} {share.estimate:.1%} ({share.level:.0%} CI {share.low:.1%} to "
            f"{share.high:.1%}; was {old:.1%})"
            for name, old, share in zip(self.classes, self.old, self.estimate.share, strict=True)
        )
        estimated = (
            f"Class shares estimated from {count(round(self.estimate.n_rows), 'row')}: {found}. "
        )
        test = f"(p = {self.estimate.p_value:.2g})"
        if self.new is None:
            return (
                f"{estimated}They do not differ from the old shares beyond chance {test}, so the "
                "probabilities were not adjusted."
            )
        return (
            f"{estimated}They differ from the old shares beyond chance {test}, so the "
            f"probabilities were adjusted as far as the intervals show: {changes}. This assumes "
            "that rows of each class look as they did in training."
        )


def adjust_to_prevalence(
    proba: FloatArray,
    classes: Sequence[str],
    class_count: Sequence[float],
    prevalence: Sequence[str] | None,
) -> Adjustment:
    """Adjust the probabilities of a saved model to class shares that are given or estimated.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, n_classes)
        The probabilities.
    classes : sequence of str
        The classes of the model.
    class_count : sequence of float
        Number of rows of each class when the model was fitted or last updated.
    prevalence : sequence of str or None
        Items such as ``sick=0.1``, or lists of them, separated by commas. A single class can be
        left out; its share is what remains. ``None`` means shares estimated from ``proba``.

    Returns
    -------
    Adjustment
        The adjusted probabilities and the shares.

    Notes
    -----
    With few rows or a weak model, the error of estimated shares does more harm than old shares do.
    Hence they are used only if the test of `estimate_prior` finds that they have changed, and only
    as far as their intervals show: the new share of each class is the one in its interval that is
    nearest to the old share, before all are divided by their sum.
    """
    counts = np.array(class_count, dtype=np.float64)
    if not counts.all():
        absent = [name for name, each in zip(classes, counts, strict=True) if not each]
        raise ValueError(
            "prevalence requires a model whose latest fit or update had rows of every class. This "
            f"one had none of {list_names(absent)}. Update it on rows of all classes."
        )
    old = counts / counts.sum()
    names, old_shares = tuple(classes), tuple(old.tolist())
    if prevalence is not None:
        given = _read_shares(prevalence, names)
        adjusted = adjust_prior(proba, old=old, new=given)
        return Adjustment(adjusted, names, old_shares, tuple(given.tolist()))
    found = estimate_prior(proba, old=counts)
    if found.p_value >= ALPHA:
        return Adjustment(proba, names, old_shares, None, found)
    new = np.clip(old, [each.low for each in found.share], [each.high for each in found.share])
    new /= new.sum()
    adjusted = adjust_prior(proba, old=old, new=new)
    return Adjustment(adjusted, names, old_shares, tuple(new.tolist()), found)


def _read_shares(items: Sequence[str], classes: tuple[str, ...]) -> FloatArray:
    """Return the share of each class."""
    shares: dict[str, float] = {}
    for name, share in _split_items(items, classes):
        if name in shares:
            raise ValueError(
                f"prevalence must name each class once, got {name!r} twice. Leave one of them out."
            )
        shares[name] = share
    total = sum(shares.values())
    absent = [name for name in classes if name not in shares]
    if len(absent) > 1:
        raise ValueError(
            "prevalence must give the share of every class but one, got no share of "
            f"{list_names(absent)}. Add the shares of all but one of these classes."
        )
    if absent:
        if total >= 1:
            raise ValueError(
                f"prevalence must leave a share for {absent[0]!r}, but the other shares sum to "
                f"{total:.6g}. Give shares that sum to less than 1."
            )
        shares[absent[0]] = 1.0 - total
        total = 1.0
    if abs(total - 1.0) > ROUNDING * len(classes):
        raise ValueError(
            f"prevalence must give shares that sum to 1, got a sum of {total:.6g}. Correct them, "
            "or leave out one class to give it what remains."
        )
    return np.array([shares[name] for name in classes]) / total


def _split_items(items: Sequence[str], classes: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    """Split items at the commas between them; a class may itself contain commas and equals signs.

    A share has neither, so that the last equals sign of an item ends the class.
    """
    for item in items:
        begun: list[str] = []
        for part in item.split(","):
            begun.append(part)
            name, _, share = ",".join(begun).strip().rpartition("=")
            if name.strip() in classes and share.strip():
                yield name.strip(), _read_share(share.strip(), item)
                begun = []
        if begun:
            raise ValueError(_describe_fault(",".join(begun).strip(), classes))


def _read_share(text: str, item: str) -> float:
    share = as_number(text)
    if not 0 <= share <= 1:
        raise ValueError(
            f"prevalence must give shares from 0 to 1, got {text!r} in {item!r}. Write, for "
            "example, 0.1 for ten percent."
        )
    return share


def _describe_fault(rest: str, classes: tuple[str, ...]) -> str:
    name, equals, share = rest.rpartition("=")
    if equals and name and share:
        return (
            f"prevalence must name classes of the model, got {name.strip()!r}. "
            f"{suggest(name.strip(), classes)}"
        )
    return (
        f"prevalence must have the form class=share, or be the word estimate, got {rest!r}. Write, "
        f"for example, {classes[0]}=0.1."
    )
