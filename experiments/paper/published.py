"""The published numbers and the authors' folds, read from files."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np

from calibrant._core.typing import Split
from experiments.paper.methods import PaperMethod
from experiments.store import Case

N_FOLDS = 10
# Names in the files, by the names used here.
CLASSIFIER_NAMES = {"nb": "naive_bayes", "rf": "random_forest"}
METRIC_NAMES = {"MSE": "mse", "LL": "log_loss"}


@dataclass(frozen=True)
class PublishedValue:
    """A value from Tables 4 and 5 of the paper.

    Attributes
    ----------
    value : float or None
        The value; None where the paper has a dash.
    is_significant : bool
        Whether it is underlined: significantly different from multi-class raw.
    """

    value: float | None
    is_significant: bool


def published_value(case: Case, method: PaperMethod, metric: str) -> PublishedValue:
    """Return a value from Tables 4 and 5 of the paper.

    Parameters
    ----------
    case : Case
        Classifier and data set.
    method : PaperMethod
        The method. Both versions of all pairs have the same published value.
    metric : {"MSE", "LL"}
        The metric.

    Returns
    -------
    PublishedValue
        The value.
    """
    classifier = CLASSIFIER_NAMES[case.classifier]
    return _published_values()[
        classifier, case.data_set, method.published_name, METRIC_NAMES[metric]
    ]


@lru_cache
def _published_values() -> dict[tuple[str, str, str, str], PublishedValue]:
    return {
        (row["classifier"], row["data_set"], row["scenario"], row["metric"]): PublishedValue(
            float(row["value"]) if row["value"] not in ("", "-") else None,
            row["differs_from_multiclass_raw"] == "1",
        )
        for row in read_published("results.csv")
    }


def read_published(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of published numbers."""
    text = files("experiments.paper").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def published_folds(data_set: str) -> Iterator[Split]:
    """Yield the training and test rows of the authors' ten folds."""
    digits = {row["data_set"]: row["fold_of_each_row"] for row in read_published("folds.csv")}
    fold = np.array(list(digits[data_set])).astype(int)
    for number in range(1, N_FOLDS + 1):
        is_test = fold == number % N_FOLDS  # fold 10 is written as 0
        yield np.flatnonzero(~is_test), np.flatnonzero(is_test)
