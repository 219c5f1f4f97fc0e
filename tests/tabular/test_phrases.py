import pandas as pd

from calibrant.tabular.phrases import list_names, locate, printable, shorten


def test_a_long_list_of_names_tells_how_many_are_left_out():
    assert list_names(["it's"]) == '"it\'s"'
    assert list_names([str(k) for k in range(100)]).endswith("'7' and 92 more")


def test_long_text_is_cut():
    assert shorten("a" * 40) == repr("a" * 40)
    assert shorten("a" * 41) == repr("a" * 37 + "...")


def test_text_fits_on_one_line():
    assert printable("naïve 🌲") == "naïve 🌲"
    assert "\n" not in printable("two\nlines")


def test_rows_are_located_as_the_index_counts():
    assert locate(pd.RangeIndex(2, 9, name="line"), 3) == "line 5"
    assert locate(pd.RangeIndex(1, 9, name="row"), 3) == "row 4"
