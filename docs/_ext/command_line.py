"""The command-line reference, read from the commands themselves.

The directive ``command-line`` documents a Typer app: one section per command, with its usage, and
its arguments and options as entries that other pages can link to. The texts are those of
``--help``.

sphinx-click does this for click but not for Typer, which comes with a copy of click of its own;
Typer's generator of Markdown cuts summaries short and leaves nothing to link to.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class CommandLine(SphinxDirective):
    """Document every command of a Typer app, given as ``module:app``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the Markdown of all commands in place of the directive."""
        self.env.note_reread()  # the page changes with the code, whatever its own date
        module, name = self.arguments[0].split(":")
        command = typer.main.get_command(getattr(import_module(module), name))
        context = command.context_class(command, info_name=module.partition(".")[0])
        lines = [line for child in _children(command, context) for line in _describe(*child)]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def _children(command: Any, context: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the commands below a group, each with its context."""
    for name, child in getattr(command, "commands", {}).items():
        yield child, child.context_class(child, info_name=name, parent=context)


def _describe(command: Any, context: Any, level: int = 2) -> Iterator[str]:
    """Yield lines of Markdown that describe a command and all commands below it."""
    path, usage = context.command_path, context.get_usage().removeprefix("Usage: ")
    yield from (f"{'#' * level} {path}", "", command.help or "", "")
    yield from ("```text", usage, "```", "", f":::{{program}} {path}", ":::", "")
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record and parameter.name != "help":
            signature, text = record
            yield from (f":::{{option}} {signature}", text, ":::", "")
    for child in _children(command, context):
        yield from _describe(*child, level=level + 1)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
