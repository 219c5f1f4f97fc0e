"""Print the table: ``python -m benchmarks [--markdown] [MODULE ...]``."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from benchmarks.timing import Row
from experiments.rendering import Cell, Table, render

HERE = Path(__file__).parent
HEADER = ["what", "ours", "peer", "ratio", "limit", "holds"]


def main() -> None:
    """Gather ``rows()`` of all modules, or of those that are named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    modules = sorted({path.stem for path in HERE.glob("[!_]*.py")} - {"timing"})
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=", ".join(modules))
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.modules if name not in modules]
    if unknown:
        parser.error(f"MODULE must be among {', '.join(modules)}. Got {', '.join(unknown)}.")

    rows: list[Row] = []
    for name in arguments.modules or modules:
        for row in import_module(f"benchmarks.{name}").rows():
            print(f"{name}: {row.what}: {row.ratio:.3g}", file=sys.stderr, flush=True)
            rows.append(row)
    table = Table("Ratios of seconds, measured in one run", HEADER, [_cells(r) for r in rows])
    print(render(table, "markdown" if arguments.markdown else "text"))
    print(machine())


def _cells(row: Row) -> list[Cell]:
    limit = f"{'at least' if row.speedup else 'at most'} {row.limit:.3g}"
    texts = [row.what, _time(row.ours), _time(row.peer), f"{row.ratio:.3g}", limit]
    return [Cell(text) for text in [*texts, "yes" if row.holds else "NO"]]


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def machine() -> str:
    """Return the machine and the versions that the ratios were measured with."""
    packages = [f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn")]
    return (
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()}; "
        f"Python {platform.python_version()}, {', '.join(packages)}."
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    main()
