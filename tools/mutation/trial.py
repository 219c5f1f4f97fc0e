"""Running the tests of a module against a mutant, in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from types import CodeType

import hypothesis.extra.numpy  # noqa: F401  imported here, it is there in every process
import pytest
from hypothesis import Phase, settings

from tools.mutation.operators import Mutant

# A mutant that loops or that fills the memory is noticed, too.
MAX_SECONDS = 60.0
MAX_BYTES = 6 * 2**30


def survives(mutant: Mutant, tests: Sequence[str]) -> bool:
    """Return whether all tests pass with a mutant in place of its module.

    The process is forked, so that third-party packages are not imported again.
    """
    process = multiprocessing.get_context("fork").Process(target=_run, args=(mutant, tests))
    process.start()
    process.join(MAX_SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
    return process.exitcode == 0


def _run(mutant: Mutant, tests: Sequence[str]) -> None:
    """Run the tests, and end the process with the exit code of pytest."""
    os.environ["CI"] = "1"  # a test of the compiled kernel is not skipped
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    for name in [name for name in sys.modules if name.split(".")[0] == "calibrant"]:
        del sys.modules[name]
    _import_instead(mutant)
    options = [*("-x", "-q", "-p", "no:cacheprovider"), "--hypothesis-seed=0"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # Hypothesis is imported already
    os._exit(pytest.main([*options, *tests], plugins=[_FirstFailure()]))


class _FirstFailure:
    """A plugin for Hypothesis: a failing example is not simplified or stored."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings(), phases=phases, database=None)
        settings.load_profile("mutants")


def _import_instead(mutant: Mutant) -> None:
    """Let imports of the module find the mutant."""
    get_code = SourceFileLoader.get_code

    def get_mutated_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
        if fullname == mutant.module:
            return compile(mutant.source, loader.path, "exec")
        return get_code(loader, fullname)

    SourceFileLoader.get_code = get_mutated_code
