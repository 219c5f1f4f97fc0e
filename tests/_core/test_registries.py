import pytest

from calibrant import calibrators
from calibrant._core.registries import CALIBRATORS, MODELS, Registry
from calibrant.tabular.models import Model


def test_every_name_resolves_to_its_object():
    assert [getattr(calibrators, item.__name__) for item in CALIBRATORS.values()] == list(
        CALIBRATORS.values()
    )
    assert {type(model) for model in MODELS.values()} == {Model}
    assert len({model.title for model in MODELS.values()}) == len(MODELS)


def test_objects_are_imported_only_when_looked_up():
    registry = Registry({"missing": "a_module_that_does_not_exist:attribute"})
    assert list(registry) == ["missing"]
    assert len(registry) == 1
    with pytest.raises(ModuleNotFoundError):
        registry["missing"]
    with pytest.raises(KeyError):
        registry["unknown"]
    assert "unknown" not in registry
