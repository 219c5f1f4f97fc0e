import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.tabular.delimited import parse_delimited
from calibrant.tabular.delimited_layout import ESCAPED
from calibrant.tabular.reading import get_reading

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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x;y;z\n1,5;a;1,5\n-2;b;x,y\n;c;?\n", True),
        ("x;y\n1,234;a\n", True),
        ("x\ty\n1,234\ta\n", False),
        ("x\ty\n1,234\ta\n12,5\tb\n", True),
        ('x,y\n"12,5 kg",a\n', True),
        ("x;y\n1.5;a,b\n", False),
    ],
)
def test_decimal_commas_are_recognized_and_cells_stay_as_written(text, expected):
    table = parse(text)
    assert get_reading(table).decimal_comma is expected
    assert (
        table["x"].iloc[0]
        == text.splitlines()[1].split(";")[0].split("\t")[0].split('"')[1 if '"' in text else 0]
    )


def test_titles_above_the_names_are_skipped_with_a_notice():
    table = parse("Beans of 2026\nmade by us\n\n" + ROWS)
    assert table.to_numpy().tolist()[0] == parse(ROWS).to_numpy().tolist()[0]
    assert table.index.tolist() == [5, 6]
    [notice] = get_reading(table).notices
    assert "are in line 4; the 2 rows above them were skipped: 'Beans of 2026'" in notice.text


def test_row_names_without_a_title_are_a_column():
    # As R's write.table writes them.
    table = parse('"x" "y"\n"1" 5 "a"\n"2" 6 "b"\n'.replace(" ", "\t"))
    assert list(table.columns) == ["column 1", "x", "y"]
    assert table["x"].tolist() == ["5", "6"]
    [notice] = get_reading(table).notices
    assert "the first cell was taken as the name of the row" in notice.text


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
        ("a,b\n1,2\n3,4,5\n", "line 1 has 2 cells and line 3 has 3"),
        ("a,b\n1,2\n3\n", "line 3 has 1"),
        ('a,b\n1,"2\n3,4\n', "t.csv must be valid CSV, but line 3 cannot be read"),
        ('a,b\n"1,2\n3,4\na,b\n"1,2\n', "t.csv must be valid CSV, but line 5 cannot be read"),
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
        [ESCAPED.sub("", cell.strip()) for cell in row]
        for row in cells
        if any(cell.strip() for cell in row)
    ]
    assert parse(text).fillna("").to_numpy().tolist() == expected


def test_spaces_around_cells_are_removed_and_said_where_they_make_a_difference():
    table = parse("x,y\n1,Yes\n2,Yes \n3, Yes\n4,no\n")
    assert set(table["y"]) == {"Yes", "no"}
    [notice] = get_reading(table).notices
    assert "'y' (' Yes' and 'Yes')" in notice.text
    assert get_reading(parse('x, y\n1, "a, b"\n2, c\n')).notices == ()


def test_names_in_apostrophes_are_read_without_them():
    table = parse("'x'\t'y'\n1\t'a\tb'\n2\tc\n")
    assert list(table.columns) == ["x", "y"]
    assert table["y"].tolist() == ["a\tb", "c"]
    assert list(parse("'=x,y\n1,2\n").columns) == ["=x", "y"]


@pytest.mark.parametrize(
    "text",
    [
        "x y\n1 a\n2 b\n",
        "'x'  'y'\n 1   a \n 2   b\n",
        '"x" "y"\n"1" 1 "a"\n"2" 2 "b"\n',
    ],
    ids=["plain", "aligned", "row names"],
)
def test_cells_may_be_separated_by_spaces(text):
    table = parse(text)
    assert table[["x", "y"]].to_numpy().tolist() == [["1", "a"], ["2", "b"]]


def test_sentences_are_not_a_table():
    assert list(parse("some words\nmore words\nand words\n").columns) == ["some words"]


@pytest.mark.parametrize(
    ("footer", "remedy"),
    [
        ("Total: 3 rows", "line 1 has 3 cells and line 5 has 1. Remove the last line, 'Total: 3"),
        ("\nSource: A\nn, 3", "line 6 has 1. Remove the last 2 lines, from 'Source: A' on"),
    ],
)
def test_short_lines_at_the_end_are_to_be_removed(footer, remedy):
    with pytest.raises(ValueError, match=remedy):
        parse(f"x,z,y\n1,2,a\n3,4,b\n5,6,a\n{footer}\n")


@pytest.mark.parametrize("lines", ["1,2\n3,4,b\n", "3,4,b\n1,2,a,b\n", "1,2\n"])
def test_other_lines_of_another_length_may_lack_quotation_marks(lines):
    with pytest.raises(ValueError, match="Put cells that contain the separator in quotation"):
        parse(f"x,z,y\n{lines}")
