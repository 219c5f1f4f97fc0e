import inspect
import re
from pathlib import Path

import calibrant
from calibrant._core.registries import CALIBRATORS
from calibrant.generation import Generator
from calibrant.persistence.declarations import DECLARATIONS, type_path
from calibrant.strategies import Strategy


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


def test_no_other_module_names_private_modules_of_scikit_learn():
    sources = Path(calibrant.__file__).parent.rglob("*.py")
    private = re.compile(r"\bsklearn(\.\w+)*\._[a-z]")
    found = {path.parent.name for path in sources if private.search(path.read_text("utf-8"))}
    assert found == {"declarations"}
