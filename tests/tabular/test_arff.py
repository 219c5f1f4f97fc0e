import numpy as np
import pytest

from calibrant.tabular.arff import parse_arff

ARFF = """% a comment
@RELATION "iris"
@attribute 'sepal length' NUMERIC
@ATTRIBUTE class {Iris-setosa, 'Iris, other', 'it\\'s'}
@attribute note string
@attribute day date "yyyy-MM-dd"
@data
5.1, Iris-setosa, 'a, b', "2026-01-01"
?, 'Iris, other', ?, ?

% another
4.9,'it\\'s',plain,2026-01-02
"""


def test_all_types_of_attributes_are_read():
    table = parse_arff(ARFF, "iris.arff")
    assert list(table.columns) == ["sepal length", "class", "note", "day"]
    np.testing.assert_array_equal(table["sepal length"], [5.1, np.nan, 4.9])
    assert table["class"].dtype == object
    assert table["class"].tolist() == ["Iris-setosa", "Iris, other", "it's"]
    assert table["note"].tolist()[::2] == ["a, b", "plain"]
    assert table["day"].tolist()[::2] == ["2026-01-01", "2026-01-02"]
    assert table.index.tolist() == [8, 9, 12]
    assert table.index.name == "line"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (ARFF.replace("@data", ""), "has no @data line"),
        (ARFF.replace("5.1,", "5.1x,"), r"line 8 has '5\.1x' for the numeric attribute 'sepal le"),
        (ARFF.replace("5.1,", ""), "line 8 has 3 values for 4 attributes"),
        (ARFF.replace("plain", "'pl"), "line 12 has an unclosed quotation mark"),
        (ARFF.replace("5.1, Iris-setosa, 'a, b', ", "{0 5.1}"), "line 8 is a sparse row"),
        (ARFF.replace("note", "class"), "line 5 declares the attribute 'class' again"),
        (ARFF.replace("class {", "{"), "line 4 does not give the name"),
        (ARFF.replace("note string", "note relational"), "line 5 declares a relational"),
    ],
)
def test_an_invalid_file_is_refused_with_the_line(changed, message):
    with pytest.raises(ValueError, match=message) as raised:
        parse_arff(changed, "iris.arff")
    assert str(raised.value).startswith("iris.arff must be")
