import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from html.parser import HTMLParser
from importlib import import_module
from inspect import isabstract
from pkgutil import walk_packages
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from numpy.typing import NDArray

import calibrant
from calibrant._core.records import Interval, Record


class Color(Enum):
    RED = "red"


@dataclass(frozen=True)
class Point:
    x: float
    y: float


@dataclass(frozen=True)
class Result(Record):
    name: str
    value: Any


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(0.5), 0.5),
        (np.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
        (Color.RED, "red"),
        (Point(1.0, 2.0), {"x": 1.0, "y": 2.0}),
        (Interval(0.2, 0.1, 0.3), {"estimate": 0.2, "low": 0.1, "high": 0.3, "level": 0.95}),
        ((np.int64(1), [Color.RED]), [1, ["red"]]),
        ({1: np.array([True])}, {"1": [True]}),
        (float("nan"), None),
        (np.float32("inf"), None),
        (np.longdouble("-inf"), None),
        (np.array([[0.5, np.nan], [-np.inf, 2.0]]), [[0.5, None], [None, 2.0]]),
        ((0.5, {"a": np.nan}), [0.5, {"a": None}]),
        (
            Interval(0.2, np.nan, np.inf),
            {"estimate": 0.2, "low": None, "high": None, "level": 0.95},
        ),
        (None, None),
    ],
    ids=repr,
)
def test_fields_convert_to_plain_values(value, expected):
    plain = Result("result", value).to_dict()
    assert plain == {"name": "result", "value": expected}
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


def all_records():
    """Every record of the package, found by importing all of it."""
    for module in walk_packages(calibrant.__path__, "calibrant."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    return sorted(subclasses(Record), key=lambda kind: kind.__qualname__)


def subclasses(kind):
    for each in kind.__subclasses__():
        if each.__module__.startswith("calibrant.") and not isabstract(each):
            yield each
        yield from subclasses(each)


def make_extreme(kind):
    """A value of a type, with NaN and infinities where the type allows them."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return make_extreme(next(each for each in arguments if each is not NoneType))
    if origin in (np.ndarray, NDArray):  # an alias of its own from NumPy 2.5 on
        is_float = "float" in str(arguments)
        return np.array([[np.nan, np.inf], [-np.inf, 0.5]]) if is_float else np.arange(2)
    if origin in (tuple, list):
        return origin(make_extreme(each) for each in arguments if each is not ...)
    if origin in (dict, Mapping):
        return {make_extreme(arguments[0]): make_extreme(arguments[1])}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    if isinstance(kind, type) and issubclass(kind, Record):
        types = get_type_hints(kind)
        return kind(**{item.name: make_extreme(types[item.name]) for item in fields(kind)})
    return {float: np.nan, Any: np.float64(np.inf), str: "a", int: 0, bool: True}[kind]


@pytest.mark.parametrize("kind", all_records(), ids=lambda kind: kind.__qualname__)
def test_every_record_of_the_package_converts_to_json(kind):
    plain = make_extreme(kind).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


def test_a_record_can_be_rebuilt_from_its_dictionary():
    interval = Interval(0.2, 0.1, 0.3, 0.9)
    assert Interval(**interval.to_dict()) == interval


def test_text_lists_the_fields_with_rounded_numbers():
    assert str(Result("gain", 0.123456)) == "Result\n  name: gain\n  value: 0.1235"
    assert str(Result("many", np.zeros((3, 5)))).endswith("value: array of shape (3, 5)")
    assert str(Result("mixed", {"a": [0.5, 1]})).endswith("value: a: 0.5, 1")


class Cells(HTMLParser):
    """Collects the text of table cells."""

    def __init__(self):
        super().__init__()
        self.cells, self.tags = [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.cells.append(data)


def test_html_is_a_table_with_escaped_values():
    parser = Cells()
    parser.feed(Result("<script>", 0.25)._repr_html_())
    assert parser.cells == ["Result", "name", "<script>", "value", "0.25"]
    assert "script" not in parser.tags


def test_an_interval_unpacks_to_its_ends_and_prints_its_level():
    interval = Interval(0.2, 0.1, 0.3, 0.9)
    assert tuple(interval) == (0.1, 0.3)
    assert str(interval) == interval._repr_html_() == "0.2 (90% CI 0.1 to 0.3)"
