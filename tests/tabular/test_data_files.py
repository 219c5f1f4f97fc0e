import os
from threading import Thread

import pytest

from calibrant.tabular.data_files import LARGE_FILE, DataFile, describe_demand


def test_a_large_file_is_announced(tmp_path):
    path = tmp_path / "big.csv"
    with path.open("wb") as file:
        os.truncate(file.fileno(), 4 * LARGE_FILE)  # takes no space
    assert "big.csv is 200 MB." in describe_demand(path)
    assert "about 3.8 GB of memory and 7 minutes" in describe_demand(path)


@pytest.mark.parametrize("name", ["small.csv", "big.parquet"])
def test_other_files_are_not(tmp_path, name):
    path = tmp_path / name
    with path.open("wb") as file:
        os.truncate(file.fileno(), LARGE_FILE - 1 if name == "small.csv" else 2 * LARGE_FILE)
    assert describe_demand(path) is None
    assert describe_demand("-") is describe_demand(tmp_path / "missing.csv") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX's")
def test_a_pipe_can_be_read_again(tmp_path):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=(b"x,y\n1,a\n",))
    writer.start()
    file = DataFile(path)
    assert file.read() == file.read() == b"x,y\n1,a\n"
    writer.join()
