import numpy as np

from experiments import repeated_rows
from experiments.repeated_rows import copy_rows, draw_categories, make_table


def test_copies_have_the_class_of_their_original():
    X, y = copy_rows(0.5, np.random.RandomState(0))
    distinct, index = np.unique(X, axis=0, return_inverse=True)
    assert len(distinct) == len(X) / 2
    assert all(len(set(y[index.ravel() == row])) == 1 for row in range(len(distinct)))


def test_rows_with_the_same_categories_have_several_classes():
    X, y = draw_categories(2, 200, np.random.RandomState(0))
    assert len(np.unique(X, axis=0)) == 4
    assert len(set(y[(X[0] == X).all(axis=1)])) > 1


def test_votes_of_repeated_rows_mislead_most_where_few_are_distinct(monkeypatch):
    monkeypatch.setattr(repeated_rows, "N_FEATURES", (1,))
    monkeypatch.setattr(repeated_rows, "COPIED", (0.5,))
    categories, copies = [[cell.text for cell in row] for row in make_table(2).rows]
    assert categories[:2] == ["categories", "1%"]
    assert copies[:2] == ["copies", "50%"]
    assert categories[4].startswith("+")
