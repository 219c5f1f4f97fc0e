import numpy as np
import pandas as pd
import pytest

from calibrant.tabular import describe_table, select_training_rows
from calibrant.tabular.cells import as_cells

N_ROWS = 60


@pytest.fixture
def make_table():
    """Return tables of text, as read from CSV, with a target ``y`` of three classes."""
    rng = np.random.RandomState(0)

    def make(**columns):
        columns = {
            "y": ["a", "b", "c"] * (N_ROWS // 3),
            "x": rng.normal(size=N_ROWS).tolist(),
            **columns,
        }
        cells = {
            name: as_cells(
                np.nan if cell is None else cell if isinstance(cell, str) else repr(cell)
                for cell in column
            )
            for name, column in columns.items()
        }
        return pd.DataFrame(cells, index=pd.RangeIndex(2, N_ROWS + 2, name="line"), dtype=object)

    return make


@pytest.fixture
def write_file(tmp_path):
    """Return a function that writes text or bytes to a file."""

    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture(scope="module")
def mixed_rows():
    """Return rows with numbers and categories, missing values and rare categories, and a schema."""
    rng = np.random.RandomState(0)
    classes = np.array(["a", "b", "c"])[rng.randint(3, size=90)]
    size = rng.normal(size=90) + (classes == "a")
    gaps = np.where(rng.rand(90) < 0.2, np.nan, rng.normal(size=90) + (classes == "b"))
    color = as_cells(np.where(classes == "c", "red", "blue"))
    color[rng.rand(90) < 0.3] = np.nan
    color[:10] = "green"
    color[0] = "only once"
    table = pd.DataFrame({"size": size, "gaps": gaps, "color": color, "y": as_cells(classes)})
    schema = describe_table(table, "y")
    return select_training_rows(table, schema), schema
