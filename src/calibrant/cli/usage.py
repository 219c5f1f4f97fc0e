"""Usage errors, such as an unknown option: one line each, like all other errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from calibrant.cli.messages import one_line_errors
from calibrant.cli.streams import usable_streams

# The class of all usage errors, which typer does not export.
UsageError: Any = typer.BadParameter.__base__
# Not an error: commands without arguments show their help.
HELP = "NoArgsIsHelpError"
EXTRA_ARGUMENTS = re.compile(r"Got unexpected extra arguments? ?(?:\(s\) )?\((.*)\)")


class OneLineUsage(TyperGroup):
    """A group of commands that prints errors of use and of output as one line, with exit code 2."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command with standard streams that are open."""
        with usable_streams():
            return super().main(*args, **options)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments before the name of the command."""
        with _one_line_usage(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Parse the arguments of the command and run it."""
        with _one_line_usage(ctx):
            return super().invoke(ctx)


@contextmanager
def _one_line_usage(ctx: Any) -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        if type(error).__name__ == HELP:
            raise
        command = f"{ctx.command_path} {ctx.invoked_subcommand or ''}".strip()
        with one_line_errors():
            raise ValueError(_describe(error, command)) from None


def _describe(error: Any, command: str) -> str:
    """Return the rule, what was given, and the remedy."""
    path = error.ctx.command_path if error.ctx else command
    see = f"See {path} --help."
    parameter = getattr(error, "param", None)
    if parameter is not None:
        is_option = parameter.param_type_name == "option"
        name = " / ".join(parameter.opts) if is_option else parameter.metavar
        if not error.message:
            return f"{path} requires {name}, but it was not given. {see}"
        is_predicate = error.message.startswith("must ")
        return f"{name}{'' if is_predicate else ':'} {_end(error.message)} {see}"
    if hasattr(error, "possibilities"):
        similar = sorted(error.possibilities or ())
        remedy = f"Did you mean {' or '.join(similar)}?" if similar else see
        return f"{path} has no option {error.option_name}. {remedy}"
    if extra := EXTRA_ARGUMENTS.match(error.message):
        taken = [
            parameter.metavar
            for parameter in error.ctx.command.params
            if parameter.param_type_name == "argument"
        ]
        return f"{path} takes only {' and '.join(taken) or 'options'}, got also {extra[1]}. {see}"
    return f"{_end(error.format_message())} {see}"


def _end(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."
