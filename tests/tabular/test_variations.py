import numpy as np
import pandas as pd
import pytest

from calibrant.tabular import describe_table, fit_table
from calibrant.tabular.variations import make_row, vary_features


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    n_rows = 120
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n_rows).astype(str),
            "dose": [f"{dose:.2f} mg" for dose in rng.normal(5, 1, n_rows)],
            "sex": rng.choice(["f", "m"], n_rows),
            "noise": rng.choice(["a", "b"], n_rows),
        },
        index=pd.RangeIndex(2, n_rows + 2, name="line"),
    )
    score = (table["age"].astype(float) - 50) / 5 + 2 * (table["sex"] == "m")
    table["class"] = np.where(score + rng.normal(size=n_rows) > 0, "yes", "no")
    return fit_table(table, describe_table(table, "class"), model="logistic", method=None)


CASE = {"age": "50", "dose": "5 mg", "sex": "f", "noise": ""}


def test_variations_are_the_predictions_of_changed_rows(model):
    for variation in vary_features(model, make_row(model, CASE)):
        for value, proba in zip(variation.values, variation.proba, strict=True):
            changed = make_row(model, {**CASE, variation.name: value})
            np.testing.assert_allclose(model.predict_proba(changed)[0], proba, atol=1e-12)


def test_what_matters_most_comes_first(model):
    variations = vary_features(model, make_row(model, CASE))
    assert variations[0].name == "age"
    ranges = [np.ptp(each.proba, axis=0).max() for each in variations]
    assert ranges == sorted(ranges, reverse=True)
    assert {each.name for each in variations} == set(CASE)


def test_values_are_those_of_the_training_data(model):
    found = {each.name: each for each in vary_features(model, make_row(model, CASE))}
    assert found["sex"].values == ("f", "m")
    ages = [float(value) for value in found["age"].values]
    column = next(column for column in model.schema.columns if column.name == "age")
    assert (ages[0], ages[-1]) == (column.low, column.high)
    assert all(age.is_integer() for age in ages)


def test_empty_values_are_missing(model):
    row = make_row(model, {"age": "50", "sex": ""})
    assert row["sex"].isna().all()
    assert row["dose"].isna().all()
