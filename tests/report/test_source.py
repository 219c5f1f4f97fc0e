import numpy as np
import pandas as pd
import pytest

from calibrant.report import Commands, Source, analyze
from calibrant.tabular import describe_table


def test_the_index_of_the_table_numbers_the_rows():
    table = pd.DataFrame(
        {"age": [61.0, None], "code": ["a<b", "c"], "count": [1, 2**60 + 1]},
        index=pd.Index([2, 5], name="line"),
    )
    source = Source("data.csv", table)
    assert source.row_labels(2) == ["line 2", "line 5"]
    assert source.cells(0) == [("age", "61"), ("code", "a<b"), ("count", "1")]
    assert source.cells(1) == [("age", ""), ("code", "c"), ("count", str(2**60 + 1))]


def test_without_a_table_rows_are_numbered_from_1():
    source = Source("forecasts")
    assert source.row_labels(3) == ["row 1", "row 2", "row 3"]
    assert source.cells(0) == []


@pytest.mark.parametrize(
    ("column", "label"),
    [
        ({"sample": [f"S-{i}" for i in range(60)]}, "sample S-0 (line 2)"),
        ({"id": list(range(500, 560))}, "id 500 (line 2)"),
        ({"number": list(range(1, 61))}, "line 2"),  # says no more than the line
        ({"sample": [f"S-{i // 2}" for i in range(60)]}, "line 2"),
        ({"comment": [f"{i} {'so ' * 20}" for i in range(60)]}, "line 2"),
    ],
)
def test_rows_are_named_by_an_identifier_if_there_is_one(column, label):
    index = pd.RangeIndex(2, 62, name="line")
    table = pd.DataFrame({"x": np.arange(60) % 7, **column, "y": ["a", "b"] * 30}, index=index)
    assert Source("data.csv", table, describe_table(table, "y")).row_labels(60)[0] == label


def test_warnings_are_those_notices_that_endanger_the_answers(make_evaluation):
    analysis = analyze(make_evaluation(("a", "b"), n_rows=240))
    labels = ["a", "b"] * 30
    table = pd.DataFrame({"x": np.arange(60) % 7, "leak": labels, "id": range(60), "y": labels})
    table["w"] = np.random.RandomState(0).normal(size=60)
    schema = describe_table(table, "y")
    assert [notice.topic for notice in schema.notices] == ["leakage", "ignored"]
    [warning] = Source("data.csv", table, schema).warnings(analysis)
    assert warning.startswith("'leak' alone tells the class")
    assert Source().warnings(analysis) == []


def test_the_next_command_fits_the_recommended_model(make_evaluation):
    analysis = analyze(make_evaluation(("a", "b"), n_rows=240))
    commands = Commands(fit=lambda index, calibrated: ["fit", str(index), str(calibrated)])
    assert Source(commands=commands).next_step(analysis).command == ["fit", "0", "True"]
    assert Source().next_step(analysis).command == ()


def test_the_next_step_follows_the_warnings(make_evaluation):
    analysis = analyze(make_evaluation(("a", "b"), n_rows=240))
    labels = ["a", "b", "a", "B"] * 30
    table = pd.DataFrame({"x": np.random.RandomState(0).normal(size=120), "y": labels})
    table["leak"] = [f"{label} after" for label in labels]
    table["patient"] = np.arange(120) // 4
    commands = Commands(["report", "-o", "page.html"], lambda *_: ["fit"])

    def find_step(names, **options):
        schema = describe_table(table[[*names, "y"]], "y", **options)
        return Source("data.csv", table, schema, commands).next_step(analysis)

    step = find_step(["x", "leak", "patient"])
    assert step.command == (
        *commands.repeat,
        "--ignore=leak",
        "--groups=patient",
        "--merge-case",
    )
    assert step.otherwise == ["fit"]
    assert step.text == (
        "First, create the report again without 'leak', with rows of the same 'patient' kept "
        "together and with the classes merged:"
    )
    assert step.exception == (
        "if 'leak' is known when predicting, rows of the same 'patient' are "
        "unrelated and the classes really differ"
    )
    assert find_step(["x", "leak"], merge_case=True).command[-1] == "--ignore=leak"
    # Without its only column, there would be no report.
    assert find_step(["leak"]).command == (*commands.repeat, "--merge-case")
    only = find_step(["leak"], merge_case=True)
    assert only.text == "If 'leak' is known when predicting:"
    assert only.command == ["fit"]
    followed = find_step(
        ["x", "leak", "patient"], merge_case=True, ignore=["leak"], groups="patient"
    )
    assert (followed.text, followed.command) == ("To fit this model and save it:", ["fit"])


def test_repeated_rows_are_removed_first(make_evaluation):
    analysis = analyze(make_evaluation(("a", "b"), n_rows=240))
    x = np.random.RandomState(0).normal(size=60)
    table = pd.DataFrame({"x": np.r_[x, x[:30]], "y": ["a", "b"] * 45})
    commands = Commands(["report"], lambda *_: ["fit"])
    step = Source("data.csv", table, describe_table(table, "y"), commands).next_step(analysis)
    assert step.text == (
        "First, remove the rows that were recorded twice, and save the cleaned table under the "
        "same name. Then create the report again:"
    )
    assert step.exception == "if no row was recorded twice"
    assert (step.command, step.otherwise) == (("report",), ["fit"])
