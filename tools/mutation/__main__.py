"""The command that tries all mutants: ``python -m tools.mutation``. It can be resumed."""

from __future__ import annotations

import argparse
import hashlib
import importlib
import sys
import tomllib
from collections import Counter
from pathlib import Path

from tools.mutation.operators import Mutant, make_mutants
from tools.mutation.trial import survives

FOLDER = Path(__file__).parent
# Outcomes of earlier runs. A change that was noticed is not tried again until its function changes;
# one that survived is tried again when its tests change, too.
OUTCOMES = Path(".mutants")


def main() -> int:
    """Try mutants, print the survivors and the scores, and return 1 if one is unexplained."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", help="parts of the names of modules; default: all")
    parser.add_argument("--share", type=float, default=1.0, help="the share of mutants to sample")
    options = parser.parse_args()
    targets = tomllib.loads((FOLDER / "targets.toml").read_text())
    for module in targets:
        importlib.import_module(module)
    reasons = tomllib.loads((FOLDER / "survivors.toml").read_text())
    outcomes = _read_outcomes()
    table = ["| module | mutants | killed | explained | unexplained |", "|---|---|---|---|---|"]
    total: Counter[str] = Counter()
    for module, tests in targets.items():
        if options.modules and not any(part in module for part in options.modules):
            continue
        source = Path(sys.modules[module].__file__).read_text()
        if not survives(Mutant(module, 0, "", "", source), tests):
            sys.exit(f"The tests of {module} fail without a change. Run pytest {' '.join(tests)}.")
        counts: Counter[str] = Counter()
        for mutant in make_mutants(module, source):
            if int(_digest(mutant.definition), 16) >= options.share * 16**16:
                continue
            outcome = _try(mutant, tests, outcomes)
            if outcome == "unexplained" and _is_explained(mutant, reasons):
                outcome = "explained"
            counts[outcome] += 1
            if outcome == "unexplained":
                print(f"{module}:{mutant.line}", flush=True)
                print(f"  - {mutant.before}\n  + {mutant.after}", flush=True)
        total += counts
        table.append(_row(f"`{module}`", counts))
        print(table[-1], file=sys.stderr, flush=True)
    print("\n".join([*table, _row("all", total)]))
    return int(total["unexplained"] > 0)


def _try(mutant: Mutant, tests: list[str], outcomes: set[str]) -> str:
    """Return whether a mutant is "killed" or "unexplained", and remember it."""
    number = _digest(mutant.module, mutant.definition)
    if number in outcomes:
        return "killed"
    survivor = _digest(number, *(Path(test.split("::")[0]).read_text() for test in tests))
    if survivor in outcomes:
        return "unexplained"
    survived = survives(mutant, tests)
    with OUTCOMES.open("a") as file:
        file.write(f"{survivor if survived else number}\n")
    return "unexplained" if survived else "killed"


def _read_outcomes() -> set[str]:
    return set(OUTCOMES.read_text().split()) if OUTCOMES.exists() else set()


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _is_explained(mutant: Mutant, reasons: dict[str, list[dict]]) -> bool:
    """Return whether an entry has the lines of a survivor; without "after", any change counts."""
    return any(
        entry["before"] == mutant.before and mutant.after in entry.get("after", [mutant.after])
        for entry in reasons.get(mutant.module, [])
    )


def _row(name: str, counts: Counter[str]) -> str:
    cells = (counts.total(), counts["killed"], counts["explained"], counts["unexplained"])
    return f"| {name} | {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    sys.exit(main())
