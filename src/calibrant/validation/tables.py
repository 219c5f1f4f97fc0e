"""Validations of saved models and of tables of probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrant._core.phrases import count
from calibrant.tabular.class_columns import find_probability_columns, split_assignments
from calibrant.tabular.columns import find_column, labeled_rows, to_texts
from calibrant.tabular.costs import read_costs
from calibrant.tabular.labeled_rows import LabeledRows, select_labeled_rows
from calibrant.tabular.phrases import list_names
from calibrant.tabular.probability_columns import GivenProbabilities, ProbabilityColumns
from calibrant.tabular.saved_model import SavedModel
from calibrant.tabular.subgroups import select_subgroups
from calibrant.validation.analysis import validate_candidates
from calibrant.validation.records import Candidate, ValidationResult


@dataclass(frozen=True, eq=False)
class Subject:
    """What is validated: a saved model on a table, or the probabilities in a table.

    Attributes
    ----------
    name : str
        Its name on the page.
    table : DataFrame
        A table that `read_table` returned: new rows for the model, or probabilities in columns
        named after the classes.
    model : SavedModel or None
        The model. ``None`` means that the table holds the probabilities.
    columns : sequence of str
        Items such as "score=malignant", for columns that are not named after their class.
    positive : str or None
        With two classes, the class of a single column of probabilities.
    """

    name: str
    table: pd.DataFrame
    model: SavedModel | None = None
    columns: Sequence[str] = ()
    positive: str | None = None

    def find_columns(
        self, table: pd.DataFrame, target: str, labels: NDArray[np.str_]
    ) -> ProbabilityColumns:
        """Find the columns of probabilities, given rows of the table and their classes."""
        names = [str(name) for name in table.columns]
        columns = split_assignments(self.columns, names)
        return find_probability_columns(
            table, target, labels, columns=columns, positive=self.positive
        )


@dataclass(frozen=True, eq=False)
class TableValidation:
    """A validation of tables.

    Attributes
    ----------
    result : ValidationResult
        The numbers.
    target : str
        The column with the classes.
    notices : tuple of str
        Sentences on rows that were left out and on what differs from the training data.
    """

    result: ValidationResult
    target: str
    notices: tuple[str, ...]


def validate_subjects(
    subjects: Sequence[Subject],
    target: str | None = None,
    groups: str | None = None,
    costs: str | None = None,
    by: Sequence[str] = (),
) -> TableValidation:
    """Validate one model, or two side by side, on the rows of tables.

    Parameters
    ----------
    subjects : sequence of Subject
        One or two subjects. The first one's table has the true classes.
    target : str, default=None
        The column with the true classes. ``None`` means that of the model.
    groups : str, default=None
        The column that tells which rows belong together. ``None`` means that of the model, if the
        table has it.
    costs : str, default=None
        A file that `read_costs` reads. ``None`` means unknown costs.
    by : sequence of str, default=()
        Columns by which to report calibration, features or not.

    Returns
    -------
    TableValidation
        The validation.
    """
    first = subjects[0]
    target = find_target(first.model, target)
    classes = _find_subject_classes(first, target)
    cost_table = None if costs is None else read_costs(costs, classes)
    rows = select_new_rows(first.table, classes, target, first.model, groups)
    subgroups = select_subgroups(rows.table, by, target)
    notices = list(rows.notices)
    candidates = []
    for subject in subjects:
        model = subject.model
        if model is None:
            given = _read_probabilities(subject, first, rows, classes, target)
            notices += given.notices
            candidates.append(Candidate(subject.name, given.values))
        else:
            _check_same_classes(subject.name, model.output_columns, classes)
            notices += model.find_notices(rows.table)
            if subject is not first:
                notices += _warn_of_known_rows(rows, model, subject.name)
            proba = model.predict_proba(rows.table)
            candidates.append(Candidate(subject.name, proba, model.performance, model.class_count))
    result = validate_candidates(
        candidates, rows.y, classes, rows.groups, costs=cost_table, subgroups=subgroups
    )
    return TableValidation(result, target, tuple(dict.fromkeys(notices)))


def find_target(model: SavedModel | None, target: str | None) -> str:
    """Return the column with the true classes: the given one, or that of the model."""
    if target is not None:
        return target
    if model is None:
        raise ValueError(
            "The column with the true classes must be named for a table of probabilities. "
            "Use --target COLUMN."
        )
    return model.target


def select_new_rows(
    table: pd.DataFrame,
    classes: tuple[str, ...],
    target: str,
    model: SavedModel | None,
    groups: str | None = None,
) -> LabeledRows:
    """Select labeled rows, grouped as requested or as the model was fitted.

    Parameters
    ----------
    table : DataFrame
        A table that `read_table` returned.
    classes : tuple of str
        The classes of the model.
    target : str
        The column with the classes.
    model : SavedModel or None
        The model.
    groups : str, default=None
        The column that tells which rows belong together. ``None`` means that of the model.

    Returns
    -------
    LabeledRows
        The rows, with notices if the table lacks the column of groups or may be the training
        data.
    """
    if model is None:
        return select_labeled_rows(table, classes, target, groups)
    notices = []
    if groups is None and model.groups is not None:
        if model.groups in {str(name) for name in table.columns}:
            groups = model.groups
        else:
            notices.append(
                f"The model was fitted with rows grouped by {model.groups!r}, which the table "
                "lacks, so rows are treated as independent."
            )
    rows = select_labeled_rows(table, classes, target, groups, model.class_names)
    notices += _warn_of_known_rows(rows, model, "the model")
    return rows._replace(notices=(*rows.notices, *notices))


def _warn_of_known_rows(rows: LabeledRows, model: SavedModel, name: str) -> list[str]:
    """Return a notice if rows may be those on which a model was fitted or last updated."""
    counts = np.bincount(rows.y, minlength=len(model.output_columns))
    if counts.tolist() != list(model.class_count):
        return []
    return [
        f"The table has as many rows of each class as the data that {name} was fitted or updated "
        f"on. If the rows are the same, {name} looks better than it is."
    ]


def _find_subject_classes(subject: Subject, target: str) -> tuple[str, ...]:
    if subject.model is not None:
        return subject.model.output_columns
    target = find_column(subject.table, target, "target")
    rows = labeled_rows(subject.table, target)
    return subject.find_columns(rows, target, to_texts(rows[target])).classes


def _check_same_classes(name: str, found: tuple[str, ...], classes: tuple[str, ...]) -> None:
    """Check that a subject has the classes of the first one; all are sorted."""
    if found != classes:
        raise ValueError(
            f"Both models must have the same classes. {name} has {list_names(found)} rather than "
            f"{list_names(classes)}. Compare models of the same classes."
        )


def _read_probabilities(
    subject: Subject, first: Subject, rows: LabeledRows, classes: tuple[str, ...], target: str
) -> GivenProbabilities:
    """Read the probabilities in a table for labeled rows."""
    if len(subject.table) != len(first.table):
        raise ValueError(
            f"{subject.name} must have the rows of the other table, in the same order. It has "
            f"{len(subject.table)} rows rather than {len(first.table)}. Add or remove rows."
        )
    found = _matching_rows(subject, first, rows, classes, target)
    columns = subject.find_columns(found, target, np.array(classes)[rows.y])
    _check_same_classes(subject.name, columns.classes, classes)
    return columns.read(found)


def _matching_rows(
    subject: Subject, first: Subject, rows: LabeledRows, classes: tuple[str, ...], target: str
) -> pd.DataFrame:
    """Return the rows of a table of probabilities that belong to the labeled rows."""
    found = subject.table.iloc[first.table.index.get_indexer(rows.table.index)]
    if target in {str(name) for name in found.columns}:
        differs = to_texts(found[target]) != np.array(classes)[rows.y]
        if differs.any():
            raise ValueError(
                f"{subject.name} must have the rows of the other table, in the same order, but "
                f"{count(int(differs.sum()), 'row')} {'has' if differs.sum() == 1 else 'have'} "
                f"another class in {target!r}. Sort both tables alike."
            )
    return found
