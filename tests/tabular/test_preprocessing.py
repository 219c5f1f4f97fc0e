import numpy as np
import pandas as pd

from calibrant.tabular import make_preprocessor
from calibrant.tabular.cells import as_cells


def test_numbers_are_imputed_and_standardized_with_an_indicator(mixed_rows):
    (X, _, _), schema = mixed_rows
    features = make_preprocessor(schema).fit(X)
    values = pd.DataFrame(features.transform(X), columns=features.get_feature_names_out())
    assert list(values.columns[:3]) == ["size", "gaps", "missingindicator_gaps"]
    np.testing.assert_allclose(values["size"].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(values["size"].std(ddof=0), 1)
    filled = X["gaps"].fillna(X["gaps"].median())
    np.testing.assert_allclose(values["gaps"], (filled - filled.mean()) / filled.std(ddof=0))
    assert values["missingindicator_gaps"].nunique() == 2


def test_categories_are_one_hot_encoded_and_unknown_ones_count_as_rare(mixed_rows):
    (X, _, _), schema = mixed_rows
    features = make_preprocessor(schema).fit(X)
    values = pd.DataFrame(features.transform(X), columns=features.get_feature_names_out())
    colors = values.filter(like="color")
    assert list(colors.columns) == [
        "color_(missing)",
        "color_blue",
        "color_green",
        "color_red",
        "color_infrequent_sklearn",
    ]
    assert (colors.sum(axis=1) == 1).all()
    new = X.iloc[:1].assign(color="never seen")
    np.testing.assert_array_equal(features.transform(new), features.transform(X.iloc[:1]))


def test_preprocessing_depends_only_on_the_rows_it_was_fitted_to(mixed_rows):
    (X, _, _), schema = mixed_rows
    changed = X.copy()
    changed.iloc[50:, 0] = 1e6
    first, second = (make_preprocessor(schema).fit(rows.iloc[:50]) for rows in (X, changed))
    np.testing.assert_array_equal(first.transform(X.iloc[:50]), second.transform(X.iloc[:50]))


def test_columns_may_be_empty_in_a_fold(mixed_rows):
    (X, _, _), schema = mixed_rows
    empty = X.iloc[:20].assign(gaps=np.nan, color=as_cells([np.nan] * 20))
    features = make_preprocessor(schema).fit(empty)
    assert np.isfinite(features.transform(X)).all()


def test_the_indicator_can_be_left_out(mixed_rows):
    (X, _, _), schema = mixed_rows
    features = make_preprocessor(schema, add_indicator=False).fit(X)
    assert "missingindicator_gaps" not in features.get_feature_names_out()
