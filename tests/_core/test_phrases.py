import pytest

from calibrant._core.phrases import capitalize, count, join_phrases


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (2000, "2,000 rows")]
)
def test_nouns_agree_with_their_number(number, expected):
    assert count(number, "row") == expected


def test_a_noun_may_have_an_irregular_plural():
    assert count(1, "class", "classes") == "1 class"
    assert count(3, "class", "classes") == "3 classes"


def test_capitalizing_keeps_the_rest():
    assert capitalize("naive Bayes") == "Naive Bayes"
    assert capitalize("") == ""


def test_phrases_are_joined_by_commas_and_and():
    assert [join_phrases("abc"[:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
