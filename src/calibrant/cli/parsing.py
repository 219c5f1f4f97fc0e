"""Parsing of options that take several values, in any order with arguments and other options."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Any

from typer.core import TyperArgument, TyperCommand

STANDARD_STREAM = "-"
NEGATIVE_NUMBER = re.compile(r"-[\d.,]*\d")
# Where a context keeps the option whose values end the line.
LAST_OPTION = "calibrant.last_option"


@dataclass
class _Part:
    """Words of a command line: an option with its values, or words to pass on as they are."""

    option: str | None
    words: list[str] = field(default_factory=list)
    n_arguments: int = 0

    def expand(self) -> list[str]:
        """Return the words, with the option before each of its values."""
        if self.option is None:
            return self.words
        return [word for value in self.words for word in (self.option, value)]


class SeveralValues(TyperCommand):
    """A command whose repeatable options take several values, as in ``--ignore age sex``.

    The values end at the next option. If the command lacks arguments, the last values of such an
    option are taken for them, so that ``--ignore age sex data.csv`` works, too; for arguments that
    may be left out, only files are. A value that starts with a dash must follow an equals sign, as
    in ``--ignore=-b``, unless it is a number.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments after repeating each such option before each of its values."""
        parts = self._split(ctx, args)
        ctx.meta[LAST_OPTION] = parts[-1].option if parts else None
        n_given = sum(part.n_arguments for part in parts)
        arguments = [each for each in self.params if isinstance(each, TyperArgument)]
        n_required = sum(argument.required for argument in arguments)
        _take_arguments(
            parts,
            len(arguments) - n_given,
            0 if ctx.resilient_parsing else n_required - n_given,
        )
        return super().parse_args(ctx, [word for part in parts for word in part.expand()])

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete a further value of an option that takes several."""
        last = ctx.meta.get(LAST_OPTION)
        for parameter in self.params:
            if last in parameter.opts and not incomplete.startswith("-"):
                return parameter.shell_complete(ctx, incomplete)
        return super().shell_complete(ctx, incomplete)

    def _split(self, ctx: Any, args: list[str]) -> list[_Part]:
        """Split a line into options that take several values, and everything else."""
        several, single = self._options()
        parts = [_Part(None)]
        words = iter(args)
        for word in words:
            if word == "--":
                rest = list(words)
                parts.append(_Part(None, [word, *rest], len(rest)))
            elif word in several:
                parts.append(_Part(word))
            elif parts[-1].option is not None and NEGATIVE_NUMBER.fullmatch(word):
                parts[-1].words.append(word)
            elif word.startswith("-") and word != STANDARD_STREAM:
                values = list(islice(words, 1)) if word in single else []
                if word in single and not values and ctx.resilient_parsing:
                    continue  # its value is to be completed, for which the arguments are needed
                parts.append(_Part(None, [word, *values]))
            elif parts[-1].option is not None and word != STANDARD_STREAM:
                parts[-1].words.append(word)
            else:
                parts.append(_Part(None, [word], n_arguments=1))
        for part in parts:
            if part.option and not part.words and not ctx.resilient_parsing:
                ctx.fail(f"Option '{part.option}' requires a value.")
        return parts

    def _options(self) -> tuple[set[str], set[str]]:
        """Return the names of options that take several values, and of those that take one."""
        several: set[str] = set()
        single: set[str] = set()
        for parameter in self.params:
            if isinstance(parameter, TyperArgument) or getattr(parameter, "is_flag", False):
                continue
            is_several = getattr(parameter, "multiple", False)
            (several if is_several else single).update(parameter.opts)
        return several, single


def _take_arguments(parts: list[_Part], n_most: int, n_least: int) -> None:
    """Turn the last values of options into arguments: those that are files, if there are enough."""
    spare = [_count_last_files(part) if part.option else 0 for part in parts]
    if sum(spare) < n_least:
        longer = [at for at, part in enumerate(parts) if part.option and len(part.words) > n_least]
        spare = [n_least if at in longer[-1:] else 0 for at in range(len(parts))]
    n_left = n_most
    for at in reversed(range(len(parts))):
        n_taken = max(min(spare[at], n_left), 0)
        if n_taken:
            n_left -= n_taken
            values, arguments = parts[at].words[:-n_taken], parts[at].words[-n_taken:]
            parts[at : at + 1] = [_Part(parts[at].option, values), _Part(None, arguments)]


def _count_last_files(part: _Part) -> int:
    """Count the files at the end of an option's values, of which it keeps at least one."""
    files = takewhile(os.path.exists, reversed(part.words[1:]))
    return len(list(files))
