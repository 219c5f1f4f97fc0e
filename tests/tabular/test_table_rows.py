import gzip
import io
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.tabular import describe_table, fit_table, read_table
from calibrant.tabular.reading import get_reading
from calibrant.tabular.table_rows import open_rows

NUMBERS = ["1.5", "2", "-3", "0.125", "1e-3", "1,5", "0,125", "1,234", "42.000,5", "12 mg", "86 mg"]
OTHERS = ["", " ", "?", "NA", "-", "+", ".", "none", "999", "36.4%", "red", " red", "'=x", "x"]


def outcome(make):
    """Return what a function returns, or its error."""
    try:
        return make()
    except ValueError as error:
        return str(error)


def rows_of(path, size, **options):
    """Return the rows of a file, read so many at a time, and the notices."""
    rows = open_rows(path, size=size, **options)
    tables = list(rows)
    assert all(len(table) <= size for table in tables)
    assert {get_reading(table).decimal_comma for table in tables} == {
        get_reading(tables[0]).decimal_comma
    }
    return pd.concat(tables), get_reading(tables[0]).decimal_comma, rows.notices


def whole(path, **options):
    table = read_table(path, **options)
    reading = get_reading(table)
    return table, reading.decimal_comma, reading.notices


def assert_same(found, expected):
    if isinstance(expected, str):
        assert found == expected
    else:
        pd.testing.assert_frame_equal(found[0], expected[0])
        assert found[1:] == expected[1:]


TEXTS = {
    "commas": "x,y\n1.5,a\n2,b\n,c\n",
    "semicolons": "x;y\n1;a\n2,5;b\n3;c\n",
    "titles": "Beans of 2026\nby us\n\nx,y\n1,a\n2,b\n3,a\n",
    "row names": "x\ty\nr1\t1\ta\nr2\t2\tb\nr3\t5\ta\n",
    "row names, but not all": "x\ty\nr1\t1\ta\nr2\t2\tb\n1\ta\n",
    "footers": "x,y\n1,a\n2,b\n3,c\nend\nof file\n",
    "too few cells": "x,y,z\n1,a,2\n2,b\n3,c,2\n3,c,2\n3,c,2\n3,c,2\n3,c,2\n",
    "spaces": "x,y\n1,red\n2,blue\n3, red\n4,green\n5,blue\t\n",
    "late quotation marks": 'x,y\n1,a\n2,b\n3, "a, b"\n',
    "quoted lines": 'x,y\n1,"a\nb"\n2,b\n3,"c"\n',
    "unclosed": 'x,y\n1,a\n2,b\n3,"a\n',
    "empty column": "x,y,\n1,a,\n2,b,\n3,c,\n",
    "late text in it": "x,y,\n1,a,\n2,b,\n3,c,z\n",
    "only names": "x,y\n",
    "late name": "a,0.5\nb,0.6\nc,0.7\na,0.8\n",
    "spaces between": "x y\n1 a\n2 b\n 3 c \n",
    "page": "  <html><body></body></html>",
    "nothing": " \n ",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_some_rows_at_a_time_are_the_rows_of_the_whole_table(write_file, text):
    path = write_file(text)
    expected = outcome(lambda: whole(path))
    for size in (1, 2, 100):
        assert_same(outcome(lambda size=size: rows_of(path, size)), expected)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(NUMBERS + OTHERS), st.sampled_from(OTHERS + NUMBERS[:2])),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 12),
    st.sampled_from([";", "\t"]),
    st.sampled_from([(), ("999",), ("x=999", "red")]),
)
def test_readings_do_not_depend_on_the_number_of_rows(
    tmp_path_factory, cells, size, delimiter, missing
):
    path = tmp_path_factory.getbasetemp() / "rows.csv"
    path.write_text("\n".join([delimiter.join(row) for row in [("x", "name"), *cells]]))
    expected = outcome(lambda: whole(path, missing=missing))
    assert_same(outcome(lambda: rows_of(path, size, missing=missing)), expected)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(NUMBERS + OTHERS[:9]), st.sampled_from(OTHERS)),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 12),
)
def test_features_and_notices_do_not_depend_on_the_number_of_rows(
    tmp_path_factory, model, cells, size
):
    path = tmp_path_factory.getbasetemp() / "new.csv"
    path.write_text("\n".join([";".join(row) for row in [("x", "color"), *cells]]))

    def read(size):
        rows = open_rows(path, expected=["x", "color"], size=size)
        reader = model.read_inputs(rows)
        features = pd.concat([reader.read(table) for table in rows])
        return features, reader.describe(), rows.notices

    assert_same(outcome(lambda: read(size)), outcome(lambda: read(None)))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of a number, with values declared missing, and of a category."""
    rng = np.random.default_rng(0)
    lines = [
        f"{value:.2f},{color},{label}"
        for value, color, label in zip(
            rng.normal(size=60), ["red", "blue", "-"] * 20, ["a", "b"] * 30, strict=True
        )
    ]
    path = tmp_path_factory.mktemp("model") / "train.csv"
    path.write_text("\n".join(["x,color,label", *lines, "1.234,red,a", "999,red,b"]))
    table = read_table(path, missing=["x=999"])
    return fit_table(table, describe_table(table, "label"), model="naive-bayes")


def test_compressed_and_old_encodings_are_read_some_rows_at_a_time(write_file):
    text = "x;größe\n1,5;ä\n2;b\n3;c\n"
    path = write_file(gzip.compress(text.encode("cp1252")), "t.csv.gz")
    assert_same(rows_of(path, 2), whole(path))
    path = write_file(gzip.compress(text.encode())[:-12], "damaged.csv.gz")
    assert "damaged" in outcome(lambda: rows_of(path, 2)) == outcome(lambda: whole(path))


def test_standard_input_is_read_several_times(monkeypatch):
    data = b"x,y\n1,a\n2,b\n3,c\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    rows = open_rows("-", size=2)
    for _ in range(2):
        assert [table["x"].tolist() for table in rows] == [["1", "2"], ["3"]]


def test_other_files_are_read_as_a_whole(write_file):
    path = write_file('[{"x": 1}, {"x": 2}]', "rows.json")
    [table] = open_rows(path, size=1)
    assert table["x"].tolist() == [1.0, 2.0]
