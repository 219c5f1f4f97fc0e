from dataclasses import replace

import numpy as np
import pandas as pd

from calibrant.report.procedure import describe_procedure
from calibrant.tabular import describe_table


def test_the_procedure_states_the_settings(make_evaluation):
    evaluation = make_evaluation(("a", "b", "c"))
    first, *_ = describe_procedure(evaluation, None)
    assert first.startswith("The rows were split at random into 4 stratified folds (seed 0).")
    repeated = replace(evaluation, n_repeats=3)
    assert "4 stratified folds, 3 times (seed 0)" in describe_procedure(repeated, None)[0]
    assert any("12 splits" in each for each in describe_procedure(repeated, None))
    grouped = replace(evaluation, group=np.arange(240) // 2)
    assert describe_procedure(grouped, None)[0].startswith("Whole groups of rows were split")


def test_the_procedure_depends_on_where_the_probabilities_come_from(make_evaluation):
    evaluation = make_evaluation(("a", "b"), n_rows=60)
    table = pd.DataFrame({"x": np.arange(60) % 7, "y": ["a", "b"] * 30})
    schema = describe_table(table, "y")
    given = " ".join(describe_procedure(replace(evaluation, is_given=True), None))
    fitted = " ".join(describe_procedure(evaluation, None))
    preprocessed = " ".join(describe_procedure(evaluation, schema))
    assert "the given probabilities" in given
    assert "predicted by models fitted on the other folds" in fitted
    assert "Missing numbers" not in fitted
    assert "Missing numbers" in preprocessed
