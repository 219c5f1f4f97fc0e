import pytest

from calibrant.datasets import dataset_names
from calibrant.datasets.catalog import CATALOG, find_dataset
from calibrant.datasets.downloads import digest
from calibrant.datasets.storage import data_folder


@pytest.mark.parametrize("name", dataset_names())
def test_files_have_the_checksums_of_the_catalog(name, paper_data):
    for file, expected in find_dataset(name).files.items():
        assert digest((data_folder() / name / file).read_bytes()) == expected


def test_names_are_in_the_order_of_the_paper():
    assert dataset_names() == tuple(sorted(CATALOG))


def test_every_entry_is_found_by_its_name():
    for name, info in CATALOG.items():
        assert find_dataset(name) is info
        assert info.name == name


def test_an_unknown_name_is_refused_with_the_names_to_choose_from():
    with pytest.raises(ValueError, match=r"abalone, .*, yeast, got 'iris'\. Check the spelling"):
        find_dataset("iris")
