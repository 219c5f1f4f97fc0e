import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="streams are closed by a POSIX shell")


def run(redirection, *arguments, **environment):
    """Run the command line in a shell that redirects its streams."""
    return subprocess.run(
        ["sh", "-c", f'"$0" -m calibrant "$@" {redirection}', sys.executable, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        timeout=120,
    )


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{k},{k % 3},{'äö'[k % 2]}" for k in range(20)]
    path.write_text("\n".join(["a,b,class", *rows]), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("redirection", [">&-", "> /dev/full"])
@pytest.mark.parametrize("arguments", [["--version"], ["fit", "--help"]], ids=str)
def test_output_that_cannot_be_written_is_one_sentence(redirection, arguments):
    done = run(redirection, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("calibrant: Standard output must be writable, got: ")
    assert len(done.stderr.splitlines()) == 1


def test_closed_input_is_an_empty_table():
    done = run("<&-", "fit", "-", "--target", "class")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_a_full_disk_is_one_sentence(table):
    command = ["fit", table, "--target", "class", "--model", "naive-bayes"]
    done = run("", *command, "--output", "/dev/full")
    assert done.returncode == 2
    assert "must fit where it is written, got: No space left on device. Free" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("redirection", ["2>&-", "2> /dev/full"])
def test_messages_that_cannot_be_written_do_not_stop_a_command(redirection, table, tmp_path):
    output = tmp_path / "m.skops"
    command = ["fit", table, "--target", "class", "--model", "naive-bayes"]
    done = run(redirection, *command, "--output", str(output))
    assert done.returncode == 0
    assert output.exists()


def test_a_terminal_without_the_characters_shows_their_codes(table):
    done = run(
        "",
        *["report", table, "--target", "class", "--model", "naive-bayes", "--folds", "2"],
        *["--output", os.devnull],
        PYTHONIOENCODING="ascii",
        PYTHONUTF8="0",
    )
    assert "Traceback" not in done.stderr
    assert done.stdout.isascii()
    assert done.returncode in (0, 2)
