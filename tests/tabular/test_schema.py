import json

from calibrant.tabular import Column, Kind, Notice, Schema
from calibrant.tabular.number_formats import NumberFormat

SCHEMA = Schema(
    target="y",
    classes=("a", "b"),
    class_count=(3, 4),
    columns=(
        Column("x", Kind.number, 1, low=-0.5, high=2.0),
        Column("p", Kind.number, number_format=NumberFormat(",", ".", "€"), missing=("-9",)),
        Column("<b>", Kind.category, 0, ("blue", "red")),
        Column("id", Kind.ignored, reason="as requested"),
    ),
    groups="g",
    notices=(Notice("rows", "There are only 7 rows."),),
    class_names={"B": "b", "c": None},
)


def test_a_schema_survives_json():
    assert Schema.from_dict(json.loads(json.dumps(SCHEMA.to_dict()))) == SCHEMA


def test_a_schema_of_an_earlier_version_is_read():
    content = json.loads(json.dumps(SCHEMA.to_dict()))
    del content["class_names"]
    for column in content["columns"]:
        del column["number_format"], column["missing"], column["low"], column["high"]
    earlier = Schema.from_dict(content)
    assert earlier.class_names == {}
    assert earlier.columns[0] == Column("x", Kind.number, 1)


def test_features_are_the_columns_that_are_not_ignored():
    assert [column.name for column in SCHEMA.features] == ["x", "p", "<b>"]
    assert SCHEMA.names(Kind.ignored) == ["id"]
    assert SCHEMA.n_rows == 7


def test_names_are_escaped_in_html():
    assert "<b>" not in SCHEMA._repr_html_()
