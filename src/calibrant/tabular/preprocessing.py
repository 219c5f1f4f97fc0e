"""Preprocessing of columns: imputation, encoding and scaling, fitted with every model."""

from __future__ import annotations

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from calibrant.tabular.schema import Kind, Schema

# Missing categories become this category.
MISSING_CATEGORY = "(missing)"
# Rarer categories share one feature, which also takes categories not seen in fit.
LEAST_CATEGORY_ROWS = 2
MOST_CATEGORIES = 30


def make_preprocessor(schema: Schema, *, add_indicator: bool = True) -> ColumnTransformer:
    """Return an unfitted transformer from columns to features.

    Missing numbers are replaced by the median, and numbers are standardized. Categories are
    one-hot encoded; categories of a single row, and those not seen in ``fit``, share one feature.

    Parameters
    ----------
    schema : Schema
        Description of the table.
    add_indicator : bool, default=True
        Whether additional features mark missing numbers.

    Returns
    -------
    ColumnTransformer
        Takes the features of `calibrant.tabular.rows` and returns a dense array.
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
    transformers = [
        ("number", numbers, schema.names(Kind.number)),
        ("category", categories, schema.names(Kind.category)),
    ]
    return ColumnTransformer(
        [item for item in transformers if item[2]],
        verbose_feature_names_out=False,
        sparse_threshold=0,
    )
