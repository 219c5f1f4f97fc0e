"""Plans from tables."""

from __future__ import annotations

from typing import Any

import pandas as pd

from calibrant.classifier import CalibratedClassifier
from calibrant.planning.plan import Plan, plan_from_pilot
from calibrant.tabular import Schema, make_model, select_training_rows


def plan_from_table(
    table: pd.DataFrame, schema: Schema, model: str, *, random_state: int = 0, **options: Any
) -> Plan:
    """Find how many rows a study needs, from a table.

    Parameters
    ----------
    table : DataFrame
        A table as returned by `read_table`.
    schema : Schema
        Columns of the table, as returned by `describe_table`.
    model : str
        Name of a model, a key of `calibrant.tabular.MODELS`.
    random_state : int, default=0
        Seed of the splits, the fits and the simulations.
    **options : object
        Further options of `plan_from_pilot`.

    Returns
    -------
    Plan
        The rows needed.
    """
    rows = select_training_rows(table, schema)
    return plan_from_pilot(
        CalibratedClassifier(make_model(model, schema, random_state)),
        rows.X,
        rows.y,
        groups=rows.groups,
        random_state=random_state,
        **options,
    )
