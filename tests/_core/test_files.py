import os

import pytest

from calibrant._core.files import check_writable, write_atomically


def test_content_is_written_and_replaced(tmp_path):
    path = tmp_path / "model.bin"
    write_atomically(path, b"old")
    write_atomically(str(path), b"new content")
    assert path.read_bytes() == b"new content"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path, monkeypatch):
    path = tmp_path / "model.bin"
    path.write_bytes(b"old")

    def fail(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_content_reaches_the_disk_before_the_old_file_is_replaced(tmp_path, monkeypatch):
    path = tmp_path / "model.bin"
    path.write_bytes(b"old")
    seen = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: seen.append(path.read_bytes()))
    write_atomically(path, b"new")
    assert seen == [b"old"]


def test_a_link_is_followed(tmp_path):
    target, link = tmp_path / "target.bin", tmp_path / "link.bin"
    target.write_bytes(b"old")
    try:
        link.symlink_to(target)
    except OSError:
        pytest.skip("symbolic links are not permitted here")
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.skipif(os.name != "posix", reason="named pipes and devices are files on POSIX only")
def test_a_device_is_written_to_rather_than_replaced():
    write_atomically("/dev/null", b"content")
    assert not os.path.isfile("/dev/null")


def test_invalid_outputs_are_refused_before_any_work(tmp_path):
    with pytest.raises(ValueError, match=r"is a folder\. Name a file in it"):
        check_writable(tmp_path)
    with pytest.raises(ValueError, match=r"missing does not exist\. Create it first"):
        check_writable(tmp_path / "missing" / "model.bin")


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="only other users are denied permission"
)
def test_a_folder_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ValueError, match="You do not have permission to write"):
            check_writable(tmp_path / "model.bin")
    finally:
        tmp_path.chmod(0o700)
