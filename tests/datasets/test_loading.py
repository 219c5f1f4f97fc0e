import numpy as np
import pytest

from calibrant.datasets import dataset_names, fetching, load_dataset
from calibrant.datasets.catalog import CATALOG
from calibrant.datasets.loading import data_folder

# Table 2 of the paper, with Development's 225 rows for its 212; features from the data.
TABLE_2 = {
    "abalone": (4177, 8, 11, 189, 689),
    "contraceptive": (1473, 9, 3, 333, 629),
    "development": (225, 6, 4, 13, 89),
    "ecoli": (336, 7, 4, 25, 143),
    "forest": (523, 27, 4, 83, 195),
    "heart": (297, 13, 5, 13, 160),
    "pendigits": (10992, 16, 10, 1055, 1144),
    "seeds": (210, 7, 3, 70, 70),
    "steel": (1941, 27, 7, 55, 673),
    "waveform": (5000, 21, 3, 1647, 1696),
    "wholesale": (440, 7, 3, 47, 316),
    "yeast": (1479, 8, 9, 20, 463),
}


@pytest.mark.parametrize("name", TABLE_2)
def test_counts_are_those_of_the_papers_table(name, paper_data):
    data = load_dataset(name)
    count = np.bincount(data.target)
    assert (*data.data.shape, len(count), count.min(), count.max()) == TABLE_2[name]
    assert len(data.feature_names) == data.data.shape[1]
    assert len(data.target_names) == len(count)
    assert np.isfinite(data.data).all()


@pytest.mark.parametrize("name", TABLE_2)
def test_files_have_the_checksums_of_the_catalog(name, paper_data):
    for file, expected in CATALOG[name].files.items():
        content = (data_folder() / name / file).read_bytes()
        assert fetching.digest(content) == expected


def test_classes_are_in_the_order_of_their_numbers(paper_data):
    names = load_dataset("abalone").target_names
    assert list(names) == ["1-5", *map(str, range(6, 14)), "14-15", "16+"]


def test_names_are_in_the_papers_order():
    assert list(dataset_names()) == list(TABLE_2)


def test_unknown_names_get_one_clear_error():
    with pytest.raises(ValueError, match=r"name must be one of abalone, .* Got 'iris'"):
        load_dataset("iris")


def test_no_folder_and_no_network_get_one_clear_error(monkeypatch, tmp_path):
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(fetching, "SOURCE", "http://127.0.0.1:9")
    with pytest.raises(ConnectionError, match=r"That failed: .* or set CALIBRANT_DATA"):
        load_dataset("seeds")


def test_missing_files_get_one_clear_error(monkeypatch, tmp_path):
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"Missing: seeds/seeds_dataset\.txt\. Put"):
        load_dataset("seeds")
