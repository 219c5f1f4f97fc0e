"""Mutated model files of every supported type: ``make fuzz N=20000``.

Each file is loaded, and if it loads, applied to rows, in a forked process with limits on memory
and time. It must be refused with a ValueError, or give finite numbers.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[2]))

from calibrant import load, save
from tests.persistence.forgeries import forge
from tests.persistence.mutations import mutate
from tests.persistence.zoo import Fitted, apply, fitted_models

MEMORY_LIMIT = 2**30
TIME_LIMIT = 10
REFUSED, FINITE = "refused", "finite predictions"
ROWS_REFUSED = "valid models of other rows, which refuse these"
# What scikit-learn says to rows with other features, categories or labels than the training rows.
REFUSALS_OF_ROWS = (
    "features, but",
    "feature names should match",
    "could not convert string to float",
    "types are expected to be both numerical",
    "unknown categories",
    "previously unseen labels",
    "No neighbors found",
    "the input data is not a mask",
    "not supported for the input types",
)
RAISED, NOT_FINITE = "errors in predictions", "predictions not finite"
OTHER_ERROR, NO_MEMORY = "errors other than ValueError", "memory above 1 GB"
CRASHED, HUNG = "crashes", "hangs over 10 s"
OUTCOMES = (
    REFUSED,
    FINITE,
    ROWS_REFUSED,
    RAISED,
    NOT_FINITE,
    OTHER_ERROR,
    NO_MEMORY,
    CRASHED,
    HUNG,
)
ACCEPTABLE = {REFUSED, FINITE, ROWS_REFUSED}


class Saved(NamedTuple):
    """A model file in memory, and the rows to apply its model to."""

    name: str
    content: bytes
    rows: Any


class Case(NamedTuple):
    """A changed file."""

    name: str
    content: bytes
    rows: Any


def save_all(folder: Path) -> list[Saved]:
    """Save every supported model."""
    path = folder / "original.skops"
    saved = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for fitted in fitted_models():
            saved.append(save_one(fitted, path))
    return saved


def save_one(fitted: Fitted, path: Path) -> Saved:
    """Save one model."""
    save(fitted.model, path)
    return Saved(fitted.name, path.read_bytes(), fitted.rows)


def outcome_of(case: Case, path: Path) -> tuple[str, str]:
    """Load a changed file and apply its model; return the outcome and the message."""
    path.write_bytes(case.content)
    try:
        model = load(path)
    except ValueError as error:
        is_memory = "Unable to allocate" in str(error) or "MemoryError" in str(error)
        return (NO_MEMORY if is_memory else REFUSED), str(error)
    except Exception as error:
        return OTHER_ERROR, repr(error)
    try:
        # A copy, since models with copy=False change their rows.
        result = apply(model, deepcopy(case.rows))
    except MemoryError as error:
        return NO_MEMORY, repr(error)
    except Exception as error:
        are_refused = any(phrase in str(error) for phrase in REFUSALS_OF_ROWS)
        return (ROWS_REFUSED if are_refused else RAISED), repr(error)
    is_finite = result.dtype.kind not in "fc" or bool(np.isfinite(result).all())
    return (FINITE if is_finite else NOT_FINITE), ""


def run(n_cases: int, make_case: Callable[[int], Case]) -> list[tuple[str, str]]:
    """Run numbered cases in forked processes; one that dies is followed by another."""
    outcomes: list[tuple[str, str]] = []
    while len(outcomes) < n_cases:
        first = len(outcomes)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            _run_in_child(range(first, n_cases), make_case, write)
        os.close(write)
        with os.fdopen(read, errors="replace") as pipe:
            for line in pipe:
                outcome, _, message = line.rstrip("\n").partition("\t")
                outcomes.append((outcome, message))
        _, status = os.waitpid(child, 0)
        if len(outcomes) < n_cases:
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
            died = HUNG if number == signal.SIGALRM else CRASHED
            outcomes.append((died, f"status {status}, signal {number}"))
    return outcomes


def _run_in_child(numbers: range, make_case: Callable[[int], Case], pipe: int) -> None:
    status = 1
    try:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_LIMIT,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        warnings.simplefilter("ignore")
        np.seterr(all="ignore")
        with (
            tempfile.TemporaryDirectory() as folder,
            open(os.devnull, "w") as nowhere,
            contextlib.redirect_stdout(nowhere),
            joblib.parallel_config("threading"),  # processes would outlive the child
            threadpool_limits(1),  # threads of OpenMP do not survive a fork
        ):
            for number in numbers:
                case = make_case(number)
                signal.alarm(TIME_LIMIT)
                outcome, message = outcome_of(case, Path(folder) / "changed.skops")
                signal.alarm(0)
                line = f"{outcome}\t{' '.join(message.split())}\n"
                os.write(pipe, line.encode(errors="replace")[:4000].rstrip() + b"\n")
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def fuzz(saved: list[Saved], n_cases: int, seed: int) -> list[tuple[str, str]]:
    """Run mutated files, which only depend on the seed and their number."""

    def make_case(number: int) -> Case:
        original = saved[number % len(saved)]
        rng = random.Random(f"{seed} {number}")
        return Case(original.name, mutate(original.content, rng), original.rows)

    return run(n_cases, make_case)


def run_forgeries(saved: list[Saved]) -> tuple[list[Case], list[tuple[str, str]]]:
    """Run the files that are forged by hand."""
    cases = [
        Case(forgery.name, forgery.content, original.rows)
        for original in saved
        for forgery in forge(original.name, original.content)
    ]
    return cases, run(len(cases), cases.__getitem__)


def report(title: str, names: list[str], outcomes: list[tuple[str, str]], n_shown: int) -> bool:
    """Print the unacceptable cases and the counts; return whether all cases are acceptable."""
    unacceptable = [
        f"{number} ({name}): {outcome}: {message[:300]}"
        for number, (name, (outcome, message)) in enumerate(zip(names, outcomes, strict=True))
        if outcome not in ACCEPTABLE
    ]
    for line in unacceptable[:n_shown]:
        print(line)
    counts = Counter(outcome for outcome, _ in outcomes)
    print(title)
    for outcome in OUTCOMES:
        print(f"{counts[outcome]:8d}  {outcome}")
    return not unacceptable


def main() -> int:
    """Run the fuzzer from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=20, help="unacceptable cases to show")
    options = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        saved = save_all(Path(folder))
    cases, outcomes = run_forgeries(saved)
    title = f"{len(cases)} files forged by hand, of {len(saved)} models:"
    are_refused = report(title, [case.name for case in cases], outcomes, options.show)
    outcomes = fuzz(saved, options.cases, options.seed)
    names = [saved[number % len(saved)].name for number in range(options.cases)]
    title = f"{options.cases} mutated files of {len(saved)} models, seed {options.seed}:"
    are_safe = report(title, names, outcomes, options.show)
    print(f"{time.monotonic() - start:.0f} seconds")
    return 0 if are_refused and are_safe else 1


if __name__ == "__main__":
    sys.exit(main())
