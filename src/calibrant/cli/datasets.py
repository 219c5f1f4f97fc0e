"""``calibrant datasets``: the paper's twelve data sets."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from calibrant.cli.arguments import PLAIN
from calibrant.cli.messages import one_line_errors, print_note

app = typer.Typer(help="List, describe and download the paper's data sets.", **PLAIN)


@app.command("list")
def list_names() -> None:
    """List the names and titles of the data sets."""
    from calibrant.datasets.catalog import CATALOG

    for info in CATALOG.values():
        print(f"{info.name:14} {info.title}")


@app.command("info")
def info(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the data set.")],
) -> None:
    """Describe a data set: its rows, features and classes."""
    from calibrant.datasets import describe_dataset

    with one_line_errors():
        print(describe_dataset(name))


@app.command("fetch")
def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAMES", help="Data sets to download. By default, all that UCI provides."
        ),
    ] = None,
) -> None:
    """Download data sets from UCI and verify their checksums.

    Files are stored in the folder CALIBRANT_DATA, if set, or in the user's cache folder.
    """
    from calibrant._core.phrases import count
    from calibrant.datasets.storage import download_datasets, explain_missing

    n_ready = 0
    with one_line_errors():
        for name, folder in download_datasets(names or None):
            print(f"{name}: {folder}")
            n_ready += 1
    for text in [] if names else explain_missing():
        print_note(text)
    print(f"{count(n_ready, 'data set')} ready to load.", file=sys.stderr)
