"""The command that runs the cases: ``python -m tools.torture --cases 100000``."""

from __future__ import annotations

import argparse
import sys
import time

from tools.torture.runner import Outcome, run_case, run_cases

# Progress is printed after so many cases.
CHUNK = 1000


def main() -> int:
    """Run cases and return 1 if one of them broke an invariant."""
    parser = argparse.ArgumentParser(prog="python -m tools.torture", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="the number of cases")
    parser.add_argument("--start", type=int, default=0, help="the number of the first case")
    parser.add_argument("--only", type=int, help="repeat this case and show its error")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    options = parser.parse_args()
    if options.only is not None:
        checked, error = run_case(options.only)
        print(f"case {options.only}: {checked}\n{error or 'no invariant is broken'}")
        return int(error is not None)

    began = time.perf_counter()
    total = Outcome()
    for first in range(options.start, options.start + options.cases, CHUNK):
        last = min(first + CHUNK, options.start + options.cases)
        outcome = run_cases(range(first, last))
        total.counts += outcome.counts
        total.broken |= outcome.broken
        for number, error in outcome.broken.items():
            print(f"case {number} is broken: {error.strip().splitlines()[-1]}", flush=True)
        elapsed = time.perf_counter() - began
        print(f"{last - options.start:,} cases, {elapsed:,.0f} s", file=sys.stderr, flush=True)
        if elapsed > options.seconds:
            break
    for checked, number in sorted(total.counts.items()):
        print(f"{number:8,}  {checked}")
    print(
        f"{total.counts.total():,} cases in {time.perf_counter() - began:,.0f} s, "
        f"{len(total.broken):,} broken invariants"
    )
    return int(bool(total.broken))


if __name__ == "__main__":
    sys.exit(main())
