import pytest

from calibrant._core.plain_values import read_class_count, read_count, read_number, read_text


def test_values_of_the_right_type_are_returned():
    assert read_text("a") == "a"
    assert read_number(3) == 3.0
    assert read_count(3.0) == 3
    assert read_class_count([2, 0]) == (2.0, 0.0)


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (read_text, 5),
        (read_text, None),
        (read_number, "1"),
        (read_number, True),
        (read_number, float("nan")),
        (read_count, -1),
        (read_count, 1.5),
        (read_count, float("inf")),
        (read_class_count, "12"),
        (read_class_count, [0, 0]),
        (read_class_count, [-5, 6]),
        (read_class_count, []),
    ],
)
def test_other_values_are_refused(read, value):
    with pytest.raises((TypeError, ValueError), match="Expected"):
        read(value)
