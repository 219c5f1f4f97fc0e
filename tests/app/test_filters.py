import pytest

from calibrant.app.filters import MOST_SHOWN, Filter, filter_rows

CONTENT = {
    "places": ["line 2", "line 3", "line 4"],
    "rows": [["yes", 0.7, "Anna"], ["no", 0.9, "Bob"], ["yes", 0.55, "Hannah"]],
}


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        (Filter(), ["line 2", "line 3", "line 4"]),
        (Filter(predicted="yes"), ["line 2", "line 4"]),
        (Filter(least=70), ["line 2", "line 3"]),
        (Filter(text="ANNA"), ["line 2", "line 4"]),
        (Filter(text="line 3"), ["line 3"]),
        (Filter(order="sure"), ["line 3", "line 2", "line 4"]),
        (Filter(order="unsure"), ["line 4", "line 2", "line 3"]),
        (Filter(predicted="yes", least=60, text="a"), ["line 2"]),
    ],
)
def test_rows_are_filtered_and_ordered(wanted, places):
    found = filter_rows(CONTENT, wanted)
    assert [place for place, _ in found.rows] == places
    assert found.n_found == len(places)


def test_a_page_shows_a_limited_number_of_rows():
    n_rows = MOST_SHOWN + 5
    content = {"places": list(map(str, range(n_rows))), "rows": [["a", 1.0]] * n_rows}
    found = filter_rows(content, Filter())
    assert (len(found.rows), found.n_found) == (MOST_SHOWN, n_rows)
