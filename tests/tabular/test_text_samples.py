from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from calibrant.tabular.number_formats import infer_format
from calibrant.tabular.text_samples import TextSample

NUMBERS = st.from_regex(
    r"[+-]?(\d{1,4}|\d{1,2}[.,' ]\d{2,4})([.,]\d{1,4})?( mg| kg|%|e5)?", fullmatch=True
)


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.integers(0, 30), st.booleans())
def test_a_sample_has_the_notation_of_all_texts(texts, first, decimal_comma):
    sample = TextSample()
    for part in (texts[:first], texts[first:]):
        sample.add(Counter(part))
    assert sum(sample.counts().values()) == len(texts)
    assert set(sample.counts()) <= set(texts)
    assert infer_format(sample.counts(), decimal_comma=decimal_comma) == infer_format(
        texts, decimal_comma=decimal_comma
    )


def test_a_sample_of_many_numbers_is_small():
    sample = TextSample()
    sample.add(Counter(str(number) for number in range(100_000)))
    assert len(sample.counts()) == 10
