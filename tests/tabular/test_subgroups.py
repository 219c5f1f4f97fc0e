import numpy as np
import pytest

from calibrant.tabular.subgroups import select_subgroups


def select(table, *names):
    return select_subgroups(table, names, "y")


def test_values_are_subgroups_in_order_and_rows_without_one_come_last(make_table):
    cells = ["m", "f", None, "-"] * 15
    (found,) = select(make_table(sex=cells), "sex")
    assert found.column == "sex"
    assert found.names == ("f", "m", "missing")
    assert found.index.tolist() == [1, 0, 2, 2] * 15


def test_rows_without_a_value_are_not_those_whose_value_is_called_missing(make_table):
    (found,) = select(make_table(sex=["m", "missing", None] * 20), "sex")
    assert found.names == ("m", "missing", "(missing)")
    assert found.index.tolist() == [0, 1, 2] * 20


def test_few_numbers_are_subgroups_by_value(make_table):
    (found,) = select(make_table(stage=[10, 2, 1] * 20), "stage")
    assert found.names == ("1", "2", "10")
    assert found.index.tolist() == [2, 1, 0] * 20


def test_many_numbers_are_cut_into_thirds(make_table):
    age = np.random.RandomState(0).permutation(60) + 20.5
    cells = [None, *age[1:].tolist()]
    (found,) = select(make_table(age=cells), "age")
    assert len(found.names) == 4
    assert found.names[-1] == "missing"
    assert found.index[0] == 3
    assert np.bincount(found.index).min() == 1
    assert np.bincount(found.index)[:3].tolist() == pytest.approx([20, 20, 19], abs=1)
    for name, at in zip(found.names[:3], range(3), strict=True):
        low, high = map(float, name.split(" to "))
        chosen = age[1:][found.index[1:] == at]
        assert (low, high) == (chosen.min(), chosen.max())


def test_ties_do_not_leave_an_empty_third(make_table):
    (found,) = select(make_table(score=[0.0] * 50 + list(range(1, 11))), "score")
    assert np.bincount(found.index).min() > 0
    assert found.names[0] == "0"


def test_several_columns_may_be_listed_and_one_is_used_once(make_table):
    table = make_table(sex=["m", "f"] * 30, site=["1", "2", "3"] * 20)
    found = select(table, "sex,site", "sex")
    assert [each.column for each in found] == ["sex", "site"]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"y": ["a", "b", "c"] * 20}, r"other than the target, got 'y'\. Name a column such as"),
        ({"z": ["a"] * 60}, r"got 'z', but its only value is 'a'\. Name another column"),
        ({"z": [f"name {i}" for i in range(60)]}, "different text in every row"),
        ({"z": list(range(60))}, "like an identifier"),
        ({"z": [f"ward {i // 2}" for i in range(60)]}, "too many to be categories"),
    ],
)
def test_columns_without_subgroups_are_refused(make_table, column, message):
    (name,) = column
    with pytest.raises(ValueError, match=message) as raised:
        select(make_table(**column), name)
    assert "\n" not in str(raised.value)


def test_too_many_subgroups_are_refused(make_table):
    table = make_table(ward=[f"ward {i % 21}" for i in range(60)]).iloc[np.arange(240) % 60]
    with pytest.raises(ValueError, match=r"at most 20 different values, got 'ward' with 21\."):
        select(table, "ward")


def test_an_unknown_column_is_refused(make_table):
    with pytest.raises(
        ValueError, match=r"by must name a column of the table, got 'Sex'\. Did you"
    ):
        select(make_table(sex=["m", "f"] * 30), "Sex")
