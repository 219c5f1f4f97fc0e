import numpy as np
import pandas as pd

from calibrant.report.faults import find_faults
from calibrant.tabular import describe_table

LABELS = ["a", "b", "a", "B"] * 30


def make_table(**columns):
    x = np.random.RandomState(0).normal(size=len(LABELS))
    return pd.DataFrame({"x": x, **columns, "y": LABELS})


def test_sound_data_have_no_faults():
    assert find_faults(describe_table(make_table(), "y", merge_case=True)) == ()


def test_every_warning_is_a_fault_with_its_remedy():
    table = make_table(leak=[f"{each} after" for each in LABELS], patient=np.arange(120) // 4)
    schema = describe_table(pd.concat([table, table[:40]]), "y")
    faults = find_faults(schema)
    assert [(each.topic, each.options) for each in faults] == [
        ("leakage", ("--ignore=leak",)),
        ("duplicates", ()),
        ("groups", ("--groups=patient",)),
        ("spelling", ("--merge-case",)),
    ]
    warned = [notice.topic for notice in schema.notices if notice.severity == "warning"]
    assert [each.topic for each in faults] == warned
    assert faults[0].remedy == "check whether 'leak' is known when predicting"


def test_many_columns_that_give_the_class_away_are_one_fault():
    leaks = {f"leak{i}": [f"{each} {i}" for each in LABELS] for i in range(5)}
    [fault] = find_faults(describe_table(make_table(**leaks), "y", merge_case=True))
    assert fault.point == "'leak0', 'leak1', 'leak2' and 2 more may give the class away"
    assert fault.exception.endswith(" are known when predicting")
    assert len(fault.options) == 5


def test_the_only_columns_are_not_left_out():
    table = make_table(leak=[f"{each} after" for each in LABELS])[["leak", "y"]]
    [fault] = [
        each
        for each in find_faults(describe_table(table, "y", merge_case=True))
        if each.topic == "leakage"
    ]
    assert (fault.change, fault.options) == ("", ())
