import subprocess
import sys

import pytest
import typer

import calibrant
from calibrant.cli import app

COMMANDS = {
    "app",
    "demo",
    "report",
    "fit",
    "predict",
    "calibrate",
    "apply",
    "validate",
    "update",
    "export",
    "plan",
    "datasets",
}


def test_all_commands_are_there_and_described_in_one_line(run):
    result = run("--help")
    assert result.exit_code == 0
    commands = typer.main.get_command(app).commands
    assert set(commands) == COMMANDS
    for name, command in commands.items():
        first = command.help.splitlines()[0]
        assert any(line.split() == [name, *first.split()] for line in result.stdout.splitlines())


@pytest.mark.parametrize("name", sorted(COMMANDS - {"datasets"}))
def test_every_argument_and_option_has_a_description(name):
    for parameter in typer.main.get_command(app).commands[name].params:
        assert parameter.help


def test_the_package_can_be_run_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "calibrant", "--version"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith(f"calibrant {calibrant.__version__} (")


def test_without_typer_the_error_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; import calibrant.cli"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("calibrant: The command line requires typer")
    assert "pip install 'calibrant[cli,plots]'" in done.stderr


def test_the_application_names_a_file_that_is_not_there(run, is_refused):
    result = run("app", "absent.csv", "--no-browser")
    is_refused(result, "absent.csv must be a file that you can read")
