"""Refusals of parts of models, and the plain values and text that are not refused."""

from __future__ import annotations

from typing import Any

import numpy as np


class RefusedPartError(ValueError):
    """A part of a model that is not as declared.

    Parameters
    ----------
    part : str
        Where it is, such as "estimators_[0].tree_".
    reason : str
        What is wrong, as the rest of a sentence that begins with the part.
    """

    def __init__(self, part: str, reason: str) -> None:
        super().__init__(f"{printable(part) or 'The model'} {printable(reason)}.")


def printable(text: str) -> str:
    """Return text with control characters escaped, so that a terminal does not obey them."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def first_line(error: Exception) -> str:
    """Return the first line of an error message, ending with a period, without control codes."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return printable(lines[0]).rstrip(".") + "."


def check_scalar(value: Any, part: str) -> None:
    """Check that a value is None or plain: a finite or NaN number, a date, or harmless text."""
    if isinstance(value, str):
        check_text(value, part)
    elif not (
        value is None
        or isinstance(value, bool | int | float | np.bool_ | np.number | np.datetime64)
    ):
        raise RefusedPartError(part, f"must be a plain value, got {brief(value)}")


def check_text(value: Any, part: str) -> None:
    """Check that a value is text without control characters."""
    if not isinstance(value, str) or not is_harmless(value):
        raise RefusedPartError(part, f"must be text without control characters, got {brief(value)}")


def check_labels(values: Any, part: str) -> None:
    """Check that an array contains plain numbers, harmless text or dates."""
    if values.dtype.kind not in "biufUSMO":
        raise RefusedPartError(part, f"must be numbers, text or dates, got {values.dtype}")
    if values.dtype.kind in "UO":
        for item in values.tolist():
            check_scalar(item, part)


def is_harmless(text: str) -> bool:
    """Return whether text is free of control characters other than tabs and line breaks."""
    return all((char >= " " and not "\x7f" <= char <= "\x9f") or char in "\t\n\r" for char in text)


def brief(value: Any) -> str:
    """Return a short description of a value for messages, without control characters."""
    if isinstance(value, np.ndarray):
        return f"an array of type {value.dtype} and shape {value.shape}"
    if value is None or isinstance(value, bool | int | float | np.number):
        return repr(value)[:40]
    if isinstance(value, str):
        return repr(value[:40])
    name = getattr(value, "__name__", None)
    if name is not None:
        return f"the function or type {name}"
    return f"an object of type {type(value).__name__}"
