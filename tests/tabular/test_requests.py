import pytest
from typer.testing import CliRunner

from calibrant.cli import app
from calibrant.tabular.requests import TableRequest

CHOICES = {
    "groups": "who",
    "ignore": ("-a", "b c"),
    "categories": ("code",),
    "numbers": ("count",),
    "missing": ("-1", "age=999"),
    "merge_case": True,
    "rare_classes": "drop",
}


def test_the_default_needs_no_options():
    assert TableRequest("t.csv", "class").spell() == ["t.csv", "--target", "class"]
    assert TableRequest("/private/t.csv", "class").spell("t.csv")[0] == "t.csv"
    assert TableRequest("/private/t.csv", "class").title == "t.csv"
    assert TableRequest("-", "class").title == "standard input"


@pytest.mark.parametrize("command", ["report", "fit"])
def test_the_command_line_understands_what_is_spelled(command, monkeypatch):
    """The words make the command ask for the same."""
    asked = []

    def stop(self):
        asked.append(self)
        raise ValueError("enough")

    monkeypatch.setattr(TableRequest, "read", stop)
    request = TableRequest("t.csv", "class", **CHOICES)
    CliRunner().invoke(app, [command, *request.spell(), "-o", f"x.{command}"])
    [found] = asked
    for name, value in CHOICES.items():
        given = getattr(found, name)
        assert (tuple(given) if isinstance(value, tuple) else given) == value
