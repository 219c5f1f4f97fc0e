"""The reference has every public name, and links between the pages lead somewhere."""

import inspect
import re
from pathlib import Path

import pytest

import calibrant

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "api" / "index.md"
# Pages that Sphinx does not check.
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("results/*/*.md"), *ROOT.glob("experiments/*.md")]
MODULES = [name for name in dir(calibrant) if inspect.ismodule(getattr(calibrant, name))]
# What the classifier asks of its stages; users pass names or objects instead.
INTERNAL = {"resolve_generator", "resolve_strategy"}


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
    return {
        name.removeprefix(prefix)
        for name in names
        if name.startswith(prefix) and "." not in name.removeprefix(prefix)
    }


def test_reference_has_every_name_of_the_package():
    assert listed_names(calibrant) == set(calibrant.__all__) - {"__version__"}


@pytest.mark.parametrize("name", MODULES)
def test_reference_has_every_public_name_and_no_other(name):
    module = getattr(calibrant, name)
    # What the package itself offers is listed there.
    assert listed_names(module) == public_names(module) - INTERNAL - set(calibrant.__all__)


def test_every_internal_name_exists():
    modules = [getattr(calibrant, name) for name in MODULES]
    assert set().union(*map(public_names, modules)) >= INTERNAL


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_to_files(page):
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", page.read_text(encoding="utf-8"))
    relative = [target for target in targets if "://" not in target]
    assert [target for target in relative if not (page.parent / target).exists()] == []
