"""The twelve data sets of the paper, and Breiman's waveform generator."""

from calibrant.datasets.catalog import dataset_names
from calibrant.datasets.loaders import describe_dataset, load_dataset
from calibrant.datasets.storage import fetch_datasets
from calibrant.datasets.waveform import make_waveform

__all__ = ["dataset_names", "describe_dataset", "fetch_datasets", "load_dataset", "make_waveform"]
