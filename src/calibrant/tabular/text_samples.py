"""Samples of the texts of a column that show all the notations in it."""

from __future__ import annotations

from collections.abc import Mapping

DIGITS = str.maketrans(dict.fromkeys("123456789", "0"))


class TextSample:
    """The first and the last of the texts that differ only in their digits, in alphabetical order.

    How a column is read depends on its texts only through their shape, the number of cells of each
    shape, and whether the first digit is zero, which it is in the first of the texts if it is in
    any of them. So a sample stands for a column that is too long to be held in memory.
    """

    def __init__(self) -> None:
        self._shapes: dict[str, tuple[str, str, int]] = {}

    def add(self, texts: Mapping[str, int]) -> None:
        """Add texts, each with its number of cells.

        Parameters
        ----------
        texts : mapping of str to int
            Number of cells by text.
        """
        shapes = self._shapes
        for text, n_cells in texts.items():
            shape = text.translate(DIGITS)
            if (known := shapes.get(shape)) is None:
                shapes[shape] = text, text, n_cells
            else:
                first, last, n_known = known
                shapes[shape] = min(first, text), max(last, text), n_known + n_cells

    def counts(self) -> dict[str, int]:
        """Return the number of cells by text; the sum over a shape is right, not each number."""
        found: dict[str, int] = {}
        for first, last, n_cells in self._shapes.values():
            found[first] = n_cells
            if last != first:
                found |= {first: n_cells - 1, last: 1}
        return found
