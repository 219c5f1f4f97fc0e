"""``calibrant datasets``: the paper's twelve data sets."""

from __future__ import annotations

from typing import Annotated

import typer

from calibrant.cli.arguments import PLAIN, one_line_errors, say

app = typer.Typer(help="The paper's twelve data sets.", **PLAIN)


@app.command("list")
def datasets_list() -> None:
    """Print the names of the data sets."""
    from calibrant.datasets.catalog import CATALOG

    for info in CATALOG.values():
        print(f"{info.name:14} {info.title}")


@app.command("info")
def datasets_info(name: str) -> None:
    """Print what a data set holds."""
    from calibrant.datasets import describe_dataset

    with one_line_errors():
        print(describe_dataset(name))


@app.command("fetch")
def datasets_fetch(
    names: Annotated[list[str] | None, typer.Argument(help="All of UCI's if none.")] = None,
) -> None:
    """Download data sets from UCI, check them, and keep them where they are read from."""
    from calibrant.datasets import fetch_datasets
    from calibrant.datasets.loading import left_out

    with one_line_errors():
        for name, folder in fetch_datasets(names):
            print(f"{name}: {folder}")
    for text in [] if names else left_out():
        say(text)
