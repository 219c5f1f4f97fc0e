"""Every declared type is saved, loaded and documented."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from threadpoolctl import threadpool_limits

import calibrant
from calibrant import load, save
from calibrant._core.registries import CALIBRATORS
from calibrant.generation import Generator
from calibrant.persistence.declarations import DECLARATIONS, FAMILIES, type_path
from calibrant.persistence.validation import iterate_objects
from calibrant.strategies import Strategy
from tests.persistence.zoo import apply, fitted_models

# Fitted searches are stored as their best estimator, and others are templates of fits.
TEMPLATES = {GridSearchCV, RandomizedSearchCV}
PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "model-files.md"


def concrete_subclasses(kind):
    for subclass in kind.__subclasses__():
        yield from concrete_subclasses(subclass)
        if not inspect.isabstract(subclass):
            yield subclass


def test_every_generator_strategy_and_calibrator_is_declared():
    kinds = [
        *concrete_subclasses(Generator),
        *concrete_subclasses(Strategy),
        *CALIBRATORS.values(),
    ]
    # Tests and experiments define further types.
    names = {name for name in map(type_path, kinds) if name.startswith("calibrant.")}
    assert len(names) > 15
    assert names <= DECLARATIONS.keys()


@pytest.mark.filterwarnings("ignore")  # warnings of fits on few rows
def test_every_declared_estimator_predicts_the_same_after_loading(tmp_path):
    path = tmp_path / "model.skops"
    loaded_types = set()
    with threadpool_limits(1):
        for fitted in fitted_models():
            save(fitted.model, path)
            loaded = load(path)
            np.testing.assert_array_equal(
                apply(loaded, fitted.rows), apply(fitted.model, fitted.rows), err_msg=fitted.name
            )
            loaded_types |= {type(part) for part in iterate_objects(loaded)}
    declared = {declaration.kind for declaration in DECLARATIONS.values()}
    missing = declared - loaded_types - TEMPLATES
    assert not {kind for kind in missing if issubclass(kind, BaseEstimator)}


def test_the_documentation_lists_the_declared_estimators():
    table = {
        cells[0].strip(): set(re.findall(r"`(\w+)`", cells[1]))
        for cells in re.findall(r"^\|(.+?)\|(.+)\|$", PAGE.read_text("utf-8"), re.MULTILINE)
    }
    for family, module in FAMILIES.items():
        kinds = {declaration.kind for declaration in module.DECLARATIONS}
        public = {
            kind.__name__
            for kind in kinds
            if issubclass(kind, BaseEstimator) and not kind.__name__.startswith("_")
        }
        assert table[family] == public


def test_no_other_module_names_private_modules_of_scikit_learn():
    sources = Path(calibrant.__file__).parent.rglob("*.py")
    private = re.compile(r"\bsklearn(\.\w+)*\._[a-z]")
    found = {path.parent.name for path in sources if private.search(path.read_text("utf-8"))}
    assert found == {"declarations"}
