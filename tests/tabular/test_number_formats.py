import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.tabular.number_formats import (
    PLAIN,
    NumberFormat,
    describe_readings,
    find_example,
    infer_format,
    is_written_number,
    parse_number,
)


@pytest.mark.parametrize(
    ("texts", "expected", "numbers"),
    [
        (["5", "-1.5", "1e3", ".5"], PLAIN, [5, -1.5, 1000, 0.5]),
        (["$4,179.00", "$86"], NumberFormat(".", ",", "$"), [4179, 86]),
        (["-$5.00", "$-5", "+$5"], NumberFormat(".", "", "$"), [-5, -5, 5]),
        (["42.000,00", "1,5"], NumberFormat(",", ".", ""), [42000, 1.5]),
        (["1.234.567", "2"], NumberFormat(",", ".", ""), [1234567, 2]),
        (["1,234", "2,345"], NumberFormat(".", ",", ""), [1234, 2345]),
        (["1,234", "0,345"], NumberFormat(",", ".", ""), [1.234, 0.345]),
        (["1\u202f234,5 €", "12 €"], NumberFormat(",", " ", "€"), [1234.5, 12]),
        (["1'234.50", "7"], NumberFormat(".", "'", ""), [1234.5, 7]),
        (["1\u2019234", "7"], NumberFormat(".", "'", ""), [1234, 7]),
        (["86 mg/dL", "90 mg/dl", "91"], NumberFormat(".", "", "mg/dL"), [86, 90, 91]),
        (["24.5 kg/m2", "30kg/m2"], NumberFormat(".", "", "kg/m2"), [24.5, 30]),
        (["5.2 x10^9/L", "4 x10^9/L"], NumberFormat(".", "", "x10^9/L"), [5.2, 4]),
        (["36.4%", "2 %"], NumberFormat(".", "", "%"), [36.4, 2]),
        (["EUR 6,50", "EUR 5"], NumberFormat(",", ".", "EUR"), [6.5, 5]),
        (["\u22125", "6"], NumberFormat(), [-5, 6]),
    ],
)
def test_a_column_is_read_in_the_notation_that_fits_all_cells(texts, expected, numbers):
    found = infer_format(texts)
    assert found == expected
    assert [parse_number(text, found) for text in texts] == numbers


@pytest.mark.parametrize(
    "texts",
    [
        ["5", "high"],
        ["5 mg", "2 g"],
        ["1st", "2nd"],
        ["36.4%", "0.5"],
        ["1,5", "1.5,2"],
        ["1.5", "1,5"],
        ["<0.5", "1"],
        ["10-20", "20-30"],
        ["2026-01-02"],
        ["12.05.2026"],
        ["10:30"],
        ["1.2.3"],
        ["5'10\""],
        ["0x1F", "1", "2", "3"],
        ["5 kg", "1", "2", "3"],
        ["- -5"],
        ["1,23,456"],
        ["3 and then some more words here"],
    ],
)
def test_text_that_is_not_one_kind_of_number_stays_text(texts):
    assert infer_format(texts) is None


def test_decimal_commas_elsewhere_in_the_file_settle_what_a_mark_means():
    assert parse_number("1,234", infer_format(["1,234"], decimal_comma=True)) == 1.234
    assert parse_number("42.000", infer_format(["42.000"], decimal_comma=True)) == 42000
    assert infer_format(["1.5", "42.000"], decimal_comma=True) == PLAIN
    assert infer_format(["5", "1e5"], decimal_comma=True) == PLAIN
    assert infer_format(["5", "6"], decimal_comma=True) == PLAIN


@given(
    st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=8),
    st.sampled_from(["$", "€", ""]),
)
def test_numbers_that_python_formats_are_restored(cents, unit):
    plain = [number / 100 for number in cents]
    american = [f"{unit}{number:,.2f}" for number in plain]
    swap = str.maketrans(",.", ".,")
    european = [f"{number:,.2f} {unit}".strip().translate(swap) for number in plain]
    for texts in (american, european):
        found = infer_format(texts)
        assert [parse_number(text, found) for text in texts] == plain


def test_other_text_is_infinite_in_any_notation():
    for number_format in (PLAIN, NumberFormat(",", ".", "€"), NumberFormat(".", "", "mg")):
        for text in ("high", "5 kg", "1,2,3", ""):
            assert parse_number(text, number_format) == math.inf


def test_written_numbers_are_recognized_one_by_one():
    assert all(map(is_written_number, ["5", "1e3", "$5", "5 mg", "1.234,5"]))
    assert not any(map(is_written_number, ["", "high", "<5", "10-20", "5'10\""]))


def test_readings_name_the_columns_with_an_example():
    dollars = NumberFormat(".", ",", "$")
    assert find_example(["$5", "$4,179.00"], dollars) == "$4,179.00"
    assert find_example(["5"], PLAIN) is None
    assert find_example([], NumberFormat(".", "", "%")) is None
    price = ("$4,179.00", dollars)
    assert describe_readings({"price": price}) == [
        "Read as numbers: 'price' ('$4,179.00' as 4179)."
    ]
    assert describe_readings({}) == []
    many = {f"c{number}": price for number in range(10)}
    assert describe_readings(many)[0].endswith(" and 2 more.")
