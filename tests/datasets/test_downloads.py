import hashlib
import os
import re
import sys
import threading
import zipfile
from dataclasses import replace

import pytest

from calibrant.datasets.catalog import CATALOG
from calibrant.datasets.downloads import download_dataset

FILE = "seeds_dataset.txt"
# The text "0,0\n1,1\n2,2\n3,0\n4,1\n5,2\n6,0\n7,1\n" as the program compress writes it.
COMPRESSED = bytes.fromhex("1f9d903058c0501083450c053258c8503043a0021a0615d450a8c086c31b1101")
TEXT = b"".join(b"%d,%d\n" % (row, row % 3) for row in range(8))


def files_in(folder):
    return [path.name for path in folder.rglob("*") if path.is_file()]


def damage(archive, name):
    """Change the first byte after the header of the archive's first file."""
    start = archive.index(name.encode()) + len(name)
    return archive[:start] + b"\xff" + archive[start + 1 :]


@pytest.mark.parametrize("mood", ["length", "chunks", "no length"])
def test_a_data_set_is_downloaded_once(server, seeds, mood, tmp_path, capsys):
    server.mood = mood
    folder = download_dataset(seeds, tmp_path, source=server.address)
    assert (folder / FILE).read_bytes() == server.content
    assert files_in(tmp_path) == [FILE]
    download_dataset(seeds, tmp_path, source=server.address)
    assert server.requests == 1
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("mood", "total"), [("length", r"\d+\.\d"), ("chunks", r"\?")])
def test_a_terminal_shows_the_bytes_as_they_arrive(
    server, seeds, mood, total, tmp_path, monkeypatch
):
    pty = pytest.importorskip("pty", exc_type=ImportError)
    server.mood = mood
    terminal, end = pty.openpty()
    with os.fdopen(end, "w") as stream, os.fdopen(terminal, "rb") as screen:
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        shown = bytearray()
        reader = threading.Thread(target=lambda: shown.extend(read_all(screen)))
        reader.start()
        download_dataset(seeds, tmp_path, source=server.address)
        monkeypatch.undo()
        stream.close()
        reader.join()
    counts = re.findall(rf"([\d.]+)/{total} kB".encode(), shown)
    assert b"seeds" in shown
    assert len(set(counts)) > 2
    assert float(counts[-1]) == pytest.approx(len(server.archive) / 1000, abs=0.1)


def read_all(screen):
    """Read a terminal until its other end is closed, which Linux reports as an error."""
    try:
        while block := os.read(screen.fileno(), 1024):
            yield from block
    except OSError:
        return


@pytest.mark.parametrize("mood", ["length, cut", "chunks, cut"])
def test_a_lost_connection_leaves_no_file(server, seeds, mood, tmp_path):
    server.mood = mood
    with pytest.raises(ConnectionError, match=r"seeds\.zip: the connection was lost\. .*try again"):
        download_dataset(seeds, tmp_path, source=server.address)
    assert files_in(tmp_path) == []
    server.mood = "length"
    download_dataset(seeds, tmp_path, source=server.address)


def test_a_truncated_archive_of_unknown_length_is_not_mistaken_for_one_without_the_file(
    server, seeds, tmp_path
):
    server.mood = "no length, cut"
    size = len(server.archive) // 2
    with pytest.raises(ValueError, match=rf"must be a complete zip file, got {size} .* Try again"):
        download_dataset(seeds, tmp_path, source=server.address)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("nested", [False, True])
def test_a_damaged_archive_leaves_no_file(server, seeds, make_zip, compression, nested, tmp_path):
    damaged = damage(make_zip({FILE: server.content}, compression), FILE)
    server.archive = make_zip({"inner.zip": damaged}) if nested else damaged
    with pytest.raises(ValueError, match=r"must be a complete zip file, .* is damaged"):
        download_dataset(seeds, tmp_path, source=server.address)
    assert files_in(tmp_path) == []


@pytest.fixture
def compressed(server, seeds, make_zip):
    server.archive = make_zip({f"{FILE}.Z": COMPRESSED})
    return replace(seeds, files={FILE: hashlib.sha256(TEXT).hexdigest()})


def test_a_compressed_file_is_uncompressed(server, compressed, tmp_path):
    folder = download_dataset(compressed, tmp_path, source=server.address)
    assert (folder / FILE).read_bytes() == TEXT


def test_a_damaged_compressed_file_leaves_no_file(server, compressed, make_zip, tmp_path):
    server.archive = make_zip({f"{FILE}.Z": COMPRESSED[:3] + b"\xff" * 20})
    with pytest.raises(ValueError, match=r"archive of seeds must .* is damaged"):
        download_dataset(compressed, tmp_path, source=server.address)
    assert files_in(tmp_path) == []


def test_a_compressed_file_without_unlzw3_says_what_to_install(
    server, compressed, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "unlzw3", None)
    with pytest.raises(ImportError, match=r"pip install 'calibrant\[datasets\]'"):
        download_dataset(compressed, tmp_path, source=server.address)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content,
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: content.removesuffix(b"\n"),
    ],
    ids=["LF", "CRLF", "no end"],
)
def test_the_checksum_does_not_depend_on_line_endings(server, seeds, make_zip, change, tmp_path):
    content = change(server.content)
    server.archive = make_zip({FILE: content})
    folder = download_dataset(seeds, tmp_path, source=server.address)
    assert (folder / FILE).read_bytes() == content


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (FILE, lambda content: content[:-2], "must have the SHA-256 .*, got"),
        (FILE, lambda content: content + b"\n", "must have the SHA-256 .*, got"),
        ("other.txt", lambda content: content, r"must contain seeds_dataset\.txt"),
    ],
)
def test_a_wrong_archive_leaves_no_file(server, seeds, make_zip, name, change, message, tmp_path):
    server.archive = make_zip({name: change(server.content)})
    with pytest.raises(ValueError, match=message):
        download_dataset(seeds, tmp_path, source=server.address)
    assert files_in(tmp_path) == []


def test_a_web_page_instead_of_an_archive_leaves_no_file(server, seeds, tmp_path):
    server.archive = b"<html>Sorry</html>"
    with pytest.raises(ValueError, match="must be a complete zip file"):
        download_dataset(seeds, tmp_path, source=server.address)
    assert files_in(tmp_path) == []


def test_archives_within_archives_are_searched(server, seeds, make_zip, tmp_path):
    server.archive = make_zip({"inner.zip": make_zip({FILE: server.content})})
    folder = download_dataset(seeds, tmp_path, source=server.address)
    assert (folder / FILE).read_bytes() == server.content


def test_a_failed_connection_names_the_address_and_the_alternative(server, seeds, tmp_path):
    server.mood = "missing"
    with pytest.raises(ConnectionError, match=r"404.*or set CALIBRANT_DATA"):
        download_dataset(seeds, tmp_path, source=server.address)
    with pytest.raises(ConnectionError, match=r"http://127\.0\.0\.1:9/.* Check the connection"):
        download_dataset(seeds, tmp_path, source="http://127.0.0.1:9")


def test_a_data_set_that_uci_does_not_have_names_its_source(tmp_path):
    with pytest.raises(ValueError, match=r"Development Index cannot be downloaded .* Kaggle"):
        download_dataset(CATALOG["development"], tmp_path)
