import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.tabular.delimited import ESCAPED, MISSING, parse_delimited

ROWS = "length,variety,note\n5.1,seker,<b>bold</b>\n4.7,bombay,\n"


def parse(text, delimiter=None, expected=()):
    return parse_delimited(text, "t.csv", delimiter, expected)


def test_cells_stay_the_text_that_was_written():
    table = parse(ROWS)
    assert list(table.columns) == ["length", "variety", "note"]
    assert table["length"].tolist() == ["5.1", "4.7"]
    assert table["note"].isna().tolist() == [False, True]
    assert table.index.tolist() == [2, 3]
    assert table.index.name == "line"


@pytest.mark.parametrize(
    "text",
    [
        ROWS.replace(",", ";"),
        ROWS.replace(",", "\t"),
        ROWS.replace("\n", "\r\n"),
        ROWS.replace("\n", "\r"),
        ROWS.replace(",", " , "),
        ROWS.replace("\n", "\n\n") + ",,\n \n",
        "".join(f"{line},\n" for line in ROWS.splitlines()),
        '"length","variety","note"\n"5.1","seker","<b>bold</b>"\n"4.7","bombay",\n',
    ],
    ids=["semicolons", "tabs", "crlf", "cr", "spaces", "blank lines", "last separator", "quoted"],
)
def test_spellings_of_the_same_table_are_the_same(text):
    pd.testing.assert_frame_equal(
        parse(text).reset_index(drop=True), parse(ROWS).reset_index(drop=True)
    )


def test_a_given_delimiter_is_used():
    assert list(parse("a,b\tc\n1,2\t3\n", "\t").columns) == ["a,b", "c"]


def test_decimal_commas_are_numbers_between_semicolons():
    table = parse("x;y;z\n1,5;a;1,5\n-2;b;x,y\n;c;?\n")
    assert table["x"].tolist()[:2] == ["1.5", "-2"]
    assert table["z"].tolist()[:2] == ["1,5", "x,y"]
    assert pd.isna(table["x"].iloc[2])
    assert pd.isna(table["z"].iloc[2])


def test_quoted_cells_may_contain_separators_quotation_marks_and_line_ends():
    table = parse('x,y\n"a, ""b""","1\n2"\nc,d\n')
    assert table["x"].tolist() == ['a, "b"', "c"]
    assert table["y"].tolist() == ["1\n2", "d"]
    assert table.index.tolist() == [3, 4]


def test_a_column_without_a_name_is_named_by_its_position():
    assert list(parse(",x\nr1,1\nr2,2\n").columns) == ["column 1", "x"]


def test_names_are_not_changed():
    names = ["<script>alert(1)</script>", 'say "hi"', "🌲", "שלום", "=cmd()", "a\u202eb"]
    quoted = ",".join('"{}"'.format(name.replace('"', '""')) for name in names)
    assert list(parse(quoted + "\n" + "1,2,3,4,5,6\n").columns) == names


NAMES = ",".join(f"x{number}" for number in range(10_000))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2\n3,4\n", r"looks like data: '1', '2'\. Add a first line with 2 column names"),
        ("1,2,3,4\n1,2,3,4\n", r"looks like data: '1', '2', '3' and 1 more\. Add"),
        ("M,0.5\nF,0.6\nM,0.7\n", "looks like data: 'M', '0.5'"),
        ("M,M,0.5\nF,F,0.6\nM,F,0.7\n", "looks like data: 'M', 'M', '0.5'"),
        ("id1,0.5,cp\nid2,0.6,im\nid3,0.6,cp\n", "looks like data"),
        ("p,x\np,y\ne,x\n", "looks like data"),
        ("a,b,a\n1,2,3\n", "'a' occurs more than once"),
        ("a,b\n1,2\n3,4,5\n", "the first line has 2 cells and line 3 has 3"),
        ("a,b\n1,2\n3\n", "line 3 has 1"),
        ('a,b\n1,"2\n3,4\n', "line 3 cannot be read"),
        (f"{NAMES}\n{NAMES}\n", "at most 5,000 columns, got 10,000"),
    ],
)
def test_an_invalid_table_is_refused_with_one_line(text, message):
    with pytest.raises(ValueError, match=message) as raised:
        parse(text)
    assert "\n" not in str(raised.value)


def test_numbers_may_be_column_names_where_they_are_expected():
    text = "1,2\n0.4,0.6\n"
    assert parse(text, expected=["2", "1"]).shape == (1, 2)
    assert parse("class,401.5,402.5\na,1,2\nb,3,4\n").shape == (2, 3)
    with pytest.raises(ValueError, match="looks like data"):
        parse(text, expected=["1", "3"])


@given(
    st.lists(
        st.tuples(*[st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5)] * 2),
        min_size=1,
        max_size=5,
    )
)
def test_text_written_by_pandas_is_restored(cells):
    text = pd.DataFrame(cells, columns=["first name", "second name"]).to_csv(index=False)
    expected = [
        ["" if cell.strip() in MISSING else ESCAPED.sub("", cell.strip()) for cell in row]
        for row in cells
        if any(cell.strip() for cell in row)
    ]
    assert parse(text).fillna("").to_numpy().tolist() == expected
