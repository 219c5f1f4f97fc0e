import json
from dataclasses import dataclass
from enum import Enum
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

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
        (None, None),
    ],
    ids=repr,
)
def test_fields_convert_to_plain_values(value, expected):
    plain = Result("result", value).to_dict()
    assert plain == {"name": "result", "value": expected}
    assert json.loads(json.dumps(plain)) == plain


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
