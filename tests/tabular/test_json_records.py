import io
import json

import numpy as np
import pandas as pd
import pytest

from calibrant.tabular.json_records import looks_like_records, parse_json
from calibrant.tabular.reading import get_reading

RECORDS = [{"x": 1, "y": "a"}, {"x": 2.5, "y": None, "z": True}, {"y": " b "}]


def test_records_become_rows_and_absent_values_are_missing():
    table = parse_json(json.dumps(RECORDS), "t.json")
    assert list(table.columns) == ["x", "y", "z"]
    assert table["x"].tolist()[:2] == [1.0, 2.5]
    assert table["y"].tolist()[::2] == ["a", "b"]
    assert table["z"].tolist()[1] == "true"
    assert table.isna().to_numpy().tolist() == [
        [False, False, True],
        [False, True, False],
        [True, False, True],
    ]
    assert (table.index.name, table.index.tolist()) == ("row", [1, 2, 3])


def test_one_record_per_line_is_the_same_table():
    text = "\n".join(json.dumps(record) for record in RECORDS[:2])
    table = parse_json(f"\n{text}\n\n", "t.jsonl")
    assert (table.index.name, table.index.tolist()) == ("line", [2, 3])
    expected = parse_json(json.dumps(RECORDS[:2]), "t.json")
    assert table.fillna("").to_numpy().tolist() == expected.fillna("").to_numpy().tolist()


@pytest.mark.parametrize("lines", [True, False])
def test_what_pandas_writes_is_read(lines):
    rng = np.random.RandomState(0)
    frame = pd.DataFrame({"x": rng.normal(size=9).round(3), "y": list("abcabcabc")})
    buffer = io.StringIO()
    frame.to_json(buffer, orient="records", lines=lines)
    table = parse_json(buffer.getvalue(), "t.json")
    assert table["x"].tolist() == frame["x"].tolist()
    assert table["y"].tolist() == frame["y"].tolist()


def test_nested_values_are_text_and_are_named():
    table = parse_json('[{"x": [1, 2], "y": "a"}, {"x": {"k": 1}, "y": "b"}]', "t.json")
    assert table["x"].tolist() == ["[1, 2]", '{"k": 1}']
    [notice] = get_reading(table).notices
    assert notice.text == "Lists and objects in 'x' were read as text."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "record 1 is not an object"),
        ('[{"x": 1}, 5]', "record 2 is not an object"),
        ("5", "must be a JSON list of records"),
        ('[{"x": 1}', "must be a JSON list of records"),
        ('{"x": 1}\n{"x": ', "must be a JSON list of records"),
        ('{"x":\n 1}', "must be a JSON list of records"),
        ("[" * 100_000, "must be a JSON list of records"),
        ('[{"a": 1, " a": 2}]', "must have distinct names"),
        ('{"a": {"0": 1, "1": 2}, "b": {"0": "x"}}', "single object with lists or objects in 'a'"),
        ('{"data": [{"a": 1, "b": 2}]}', "single object with lists or objects in 'data'"),
    ],
)
def test_other_json_is_refused_with_one_line(text, message):
    with pytest.raises(ValueError, match=message) as raised:
        parse_json(text, "t.json")
    assert "\n" not in str(raised.value)


def test_records_are_told_from_delimited_text():
    assert looks_like_records(' [\n {"x": 1}]')
    assert looks_like_records('{"x": 1}')
    assert not looks_like_records("x,y\n1,2\n")
    assert not looks_like_records("[x],{y}\n1,2\n")
