import pandas as pd

from calibrant.tabular.phrases import (
    find_similar,
    list_names,
    locate,
    printable,
    shorten,
    suggest,
)


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


def test_names_that_differ_in_case_and_punctuation_are_similar_above_all():
    names = ["body_mass", "body-mass", "body_mas", "sex"]
    assert find_similar("Body mass", names) == ["body_mass", "body-mass"]
    assert find_similar("Body mass", names, most=1) == ["body_mass"]
    assert find_similar("body_masse", names)[0] == "body_mass"
    assert find_similar("height", names) == []
    assert find_similar("!", ["?", "!"]) == ["!"]


def test_without_a_similar_name_the_suggestion_lists_all_names():
    assert suggest("agee", ["age", "sex"]) == "Did you mean 'age'?"
    assert suggest("height", ["age", "sex"]) == "Choose one of 'age', 'sex'."
