"""The reference has every public name."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parent.parent / "docs" / "api" / "index.md"
MODULES = (
    "calibrators",
    "combination",
    "comparison",
    "datasets",
    "exceptions",
    "generation",
    "metrics",
    "near_isotonic",
    "plots",
    "report",
    "strategies",
)
# What the classifier asks of its stages; users pass names or objects instead.
INTERNAL = {"resolve_generator", "resolve_strategy", "scores_of_fitted"}


def public_names(module):
    if hasattr(module, "__all__"):
        return set(module.__all__)
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    }


def listed_names(module):
    """Names under ``currentmodule``, as Sphinx reads them."""
    names = set()
    current = ""
    for line in REFERENCE.read_text(encoding="utf-8").splitlines():
        if found := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            current = found[1]
        elif found := re.fullmatch(r"   ([\w.]+)", line):
            names.add(f"{current}.{found[1]}")
    prefix = f"{module.__name__}."
    return {name.removeprefix(prefix) for name in names if name.startswith(prefix)}


@pytest.mark.parametrize("name", MODULES)
def test_reference_has_every_public_name_and_no_other(name):
    module = import_module(f"calibrant.{name}")
    assert listed_names(module) == public_names(module) - INTERNAL
