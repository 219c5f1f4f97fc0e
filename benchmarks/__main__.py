"""Time calibrant against its peers and print a table of ratios."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.timing import Row

HERE = Path(__file__).parent
TITLE = "Ratios of seconds, measured in one run"
HEADER = ("benchmark", "calibrant", "peer", "ratio", "limit", "holds")
# Wider than any row, so that rows are not wrapped.
CONSOLE_WIDTH = 1000


def main() -> None:
    """Run the benchmarks of all modules or of those named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    modules = sorted({path.stem for path in HERE.glob("[!_]*.py")} - {"timing"})
    parser.add_argument(
        "modules", nargs="*", metavar="MODULE", help=f"one of {', '.join(modules)}; default: all"
    )
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.modules if name not in modules]
    if unknown:
        parser.error(f"MODULE must be one of {', '.join(modules)}, got {', '.join(unknown)}.")

    rows: list[Row] = []
    for name in arguments.modules or modules:
        for row in import_module(f"benchmarks.{name}").rows():
            print(f"{name}: {row.title}: {row.ratio:.3g}", file=sys.stderr, flush=True)
            rows.append(row)
    print_table(rows, markdown=arguments.markdown)


def print_table(rows: list[Row], *, markdown: bool) -> None:
    """Print the rows, followed by the machine and versions that they were measured with."""
    table = Table(*HEADER, box=box.MARKDOWN if markdown else box.SIMPLE_HEAD)
    for row in rows:
        table.add_row(
            row.title,
            _format_time(row.seconds),
            _format_time(row.peer_seconds),
            f"{row.ratio:.3g}",
            f"{'at least' if row.speedup else 'at most'} {row.limit:.3g}",
            "yes" if row.holds else "NO",
        )
    console = Console(width=CONSOLE_WIDTH, markup=False, highlight=False)
    console.print(f"**{TITLE}**" if markdown else TITLE)
    console.print(table)
    console.print(describe_machine())


def describe_machine() -> str:
    """Describe the machine and the versions of the numerical packages."""
    packages = [f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn")]
    return (
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()}; "
        f"Python {platform.python_version()}, {', '.join(packages)}."
    )


def _format_time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    main()
