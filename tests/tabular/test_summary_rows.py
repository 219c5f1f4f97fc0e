from itertools import product

import numpy as np
import pandas as pd

from calibrant.report.faults import find_faults
from calibrant.tabular import describe_table
from calibrant.tabular.cells import as_cells


def warnings(table):
    schema = describe_table(table, "survived")
    faults = [fault.topic for fault in find_faults(schema)]
    found = [notice.topic for notice in schema.notices if notice.severity == "warning"]
    assert faults == found
    return found


def make_counts(name):
    combinations = product("123C", ["male", "female"], ["child", "adult"], ["no", "yes"])
    table = pd.DataFrame(combinations, columns=["class", "sex", "age", "survived"])
    return table.assign(**{name: np.arange(len(table)) ** 2})


def test_a_table_of_counts_is_noticed_by_its_form_and_the_name_of_the_column():
    assert warnings(make_counts("Freq")) == ["counts"]
    assert warnings(make_counts("number of passengers")) == ["counts"]
    assert warnings(make_counts("fare")) == []
    with_halves = make_counts("Freq").assign(Freq=lambda table: table["Freq"] / 2)
    assert warnings(with_halves) == []


def test_a_number_beside_rows_that_occur_several_times_is_no_count():
    table = make_counts("n")
    assert "counts" not in warnings(pd.concat([table, table.assign(n=table["n"] + 1)]))


def test_a_total_below_the_rows_is_noticed_unless_other_rows_have_it():
    rng = np.random.RandomState(0)
    table = pd.DataFrame(
        {
            "region": as_cells([*rng.choice(["north", "south"], size=59), "Total"]),
            "x": rng.normal(size=60),
            "survived": ["no", "yes"] * 30,
        }
    )
    assert warnings(table) == ["totals"]
    assert warnings(table.assign(region=as_cells(["Total", *table["region"][1:]]))) == []
    assert warnings(table[::-1]) == []
