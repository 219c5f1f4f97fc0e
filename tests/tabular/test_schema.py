import json

from calibrant.tabular import Column, Kind, Notice, Schema

SCHEMA = Schema(
    target="y",
    classes=("a", "b"),
    class_count=(3, 4),
    columns=(
        Column("x", Kind.number, 1),
        Column("<b>", Kind.category, 0, ("blue", "red")),
        Column("id", Kind.ignored, reason="as requested"),
    ),
    groups="g",
    notices=(Notice("rows", "There are only 7 rows."),),
)


def test_a_schema_survives_json():
    assert Schema.from_dict(json.loads(json.dumps(SCHEMA.to_dict()))) == SCHEMA


def test_features_are_the_columns_that_are_not_ignored():
    assert [column.name for column in SCHEMA.features] == ["x", "<b>"]
    assert SCHEMA.names(Kind.ignored) == ["id"]
    assert SCHEMA.n_rows == 7


def test_names_are_escaped_in_html():
    assert "<b>" not in SCHEMA._repr_html_()
