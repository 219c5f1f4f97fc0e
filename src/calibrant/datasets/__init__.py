"""The paper's twelve data sets, and Breiman's waveform generator as a built-in one."""

from calibrant.datasets.loading import (
    dataset_names,
    describe_dataset,
    fetch_datasets,
    load_dataset,
)
from calibrant.datasets.waveform import make_waveform

__all__ = ["dataset_names", "describe_dataset", "fetch_datasets", "load_dataset", "make_waveform"]
