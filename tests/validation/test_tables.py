import numpy as np
import pandas as pd
import pytest

from calibrant.tabular import describe_table, fit_table
from calibrant.tabular.cells import as_cells
from calibrant.validation.tables import Subject, validate_subjects

rng = np.random.RandomState(0)
VALUES = rng.normal(size=120)
LABELS = as_cells("ab"[int(value + rng.normal() > 0)] for value in VALUES)
TABLE = pd.DataFrame({"y": LABELS, "x": VALUES, "patient": np.arange(120) // 2})
TABLE.index = pd.RangeIndex(2, 122, name="line")
OLD, NEW = TABLE[:70], TABLE[70:]


@pytest.fixture(scope="module")
def model():
    schema = describe_table(OLD, "y", ignore=["patient"])
    return fit_table(OLD, schema, model="naive-bayes", method="temperature")


@pytest.fixture(scope="module")
def grouped():
    schema = describe_table(OLD, "y", groups="patient")
    return fit_table(OLD, schema, model="naive-bayes", method="temperature")


def probabilities(model, table):
    proba = model.predict_proba(table)
    content = {"y": table["y"], "a": proba[:, 0], "b": proba[:, 1]}
    return pd.DataFrame(content, index=table.index)


def test_a_model_and_its_probabilities_get_the_same_verdict(model):
    by_model = validate_subjects([Subject("m", NEW, model)])
    by_table = validate_subjects([Subject("m", probabilities(model, NEW))], "y")
    first, second = by_model.result.models[0], by_table.result.models[0]
    assert by_model.target == "y"
    assert first.miscalibration == second.miscalibration
    assert first.update == second.update
    assert first.before == model.performance
    assert first.frequencies.training == (
        float(OLD["y"].tolist().count("a")),
        first.frequencies.training[1],
    )
    assert second.before is None


def test_probabilities_are_compared_row_by_row(model):
    found = validate_subjects([Subject("m", NEW, model), Subject("p", probabilities(model, NEW))])
    assert found.result.difference.log_loss.estimate == pytest.approx(0.0, abs=1e-12)


def test_tables_with_other_rows_are_refused(model):
    table = probabilities(model, NEW)
    for other, message in (
        (table[:-1], "It has 49 rows rather than 50"),
        (table[::-1].set_index(table.index), "another class in 'y'. Sort both tables alike."),
    ):
        with pytest.raises(ValueError, match=message):
            validate_subjects([Subject("m", NEW, model), Subject("p", other)])


def test_models_of_other_classes_are_refused(model):
    other = NEW.assign(y=as_cells({"a": "a", "b": "c"}[name] for name in NEW["y"]))
    second = fit_table(other, describe_table(other, "y"), model="naive-bayes", method=None)
    with pytest.raises(ValueError, match="Both models must have the same classes"):
        validate_subjects([Subject("m", NEW, model), Subject("n", NEW, second)])


def test_groups_are_those_of_the_model_if_the_table_has_them(grouped):
    found = validate_subjects([Subject("m", NEW, grouped)])
    assert (found.result.n_rows, found.result.n_groups) == (50, 25)
    lacking = validate_subjects([Subject("m", NEW.drop(columns="patient"), grouped)])
    assert lacking.result.n_groups == 50
    assert any("which the table lacks" in text for text in lacking.notices)


def test_training_rows_are_suspected(model):
    found = validate_subjects([Subject("m", OLD, model)])
    assert any("If the rows are the same" in text for text in found.notices)
    assert not validate_subjects([Subject("m", NEW, model)]).notices


def test_a_table_of_probabilities_needs_a_target(model):
    with pytest.raises(ValueError, match="Use --target COLUMN"):
        validate_subjects([Subject("m", probabilities(model, NEW))])
