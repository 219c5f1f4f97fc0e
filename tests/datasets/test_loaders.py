import numpy as np
import pytest

from calibrant.datasets import describe_dataset, load_dataset

# Rows, features, classes, and rows of the smallest and the largest class: Table 2 of the paper, but
# for Development, which has 225 rows rather than 212, and for the features, counted in the files.
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


def test_classes_that_start_with_numbers_are_sorted_by_them(paper_data):
    names = load_dataset("abalone").target_names
    assert list(names) == ["1-5", *map(str, range(6, 14)), "14-15", "16+"]


def test_a_description_counts_rows_features_and_classes(paper_data):
    text = describe_dataset("seeds")
    assert "210 rows, 7 features, 3 classes" in text
    assert "1 (70), 2 (70), 3 (70)" in text


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"must be one of abalone, .*, got 'iris'"):
        load_dataset("iris")
