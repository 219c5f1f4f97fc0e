"""Missing values, categories and scales, learned anew from the rows of every fit."""

from __future__ import annotations

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from calibrant.tabular.columns import Kind, Schema

# What a missing category is called; it is a category of its own.
MISSING_CATEGORY = "(missing)"
# Categories of fewer rows share one column, and new categories go there.
LEAST_CATEGORY_ROWS = 2
MOST_CATEGORIES = 30


def make_preprocessor(schema: Schema, *, add_indicator: bool = True) -> ColumnTransformer:
    """Return what turns columns into features, to be fitted inside the folds.

    Numbers that are missing get the median, and a feature that marks them; all are scaled.
    Categories become indicators; those of one row, and those not seen in ``fit``, share one.

    Parameters
    ----------
    schema : Schema
        What the table holds.
    add_indicator : bool, default=True
        Whether there are features that mark missing numbers.

    Returns
    -------
    ColumnTransformer
        Takes rows of `calibrant.tabular.rows`, returns a dense array.
    """
    numbers = make_pipeline(
        SimpleImputer(strategy="median", add_indicator=add_indicator, keep_empty_features=True),
        StandardScaler(),
    )
    categories = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=MISSING_CATEGORY, keep_empty_features=True),
        OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            min_frequency=LEAST_CATEGORY_ROWS,
            max_categories=MOST_CATEGORIES,
            sparse_output=False,
        ),
    )
    parts = [
        ("number", numbers, schema.names(Kind.number)),
        ("category", categories, schema.names(Kind.category)),
    ]
    return ColumnTransformer(
        [part for part in parts if part[2]], verbose_feature_names_out=False, sparse_threshold=0
    )
