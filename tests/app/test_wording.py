import pytest

from calibrant.app.wording import describe_seconds, without_options


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "a few seconds"),
        (13, "15 seconds"),
        (54, "55 seconds"),
        (56, "1 minute"),
        (150, "2 minutes"),
        (3000, "50 minutes"),
        (3500, "1 hour"),
        (9000, "2 hours"),
    ],
)
def test_durations_are_rounded(seconds, words):
    assert describe_seconds(seconds) == words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use 'id' for groups (--groups).", "Use 'id' for groups."),
        ("Leave it out (--ignore=age).", "Leave it out."),
        ("Leave it out ('--ignore=a b (c)').", "Leave it out."),
        ("If they are the same, use --merge-case.", "If they are the same, merge them."),
        ("Add rows, or use --rare-classes drop.", "Add rows, or drop rare classes."),
        (
            "If this stands for a missing value, use --missing age=999.",
            "If this stands for a missing value, add age=999 to the missing values.",
        ),
        ("use --missing a=1 --missing a=2.", "add a=1, a=2 to the missing values."),
        ("use --missing 'not known'.", "add not known to the missing values."),
        ("declare them missing with --missing", "declare them missing"),
        (
            "If they stand for missing values, use --missing.",
            "If they stand for missing values, declare them missing.",
        ),
        ("Nothing to change: a -- b.", "Nothing to change: a -- b."),
    ],
)
def test_options_of_the_command_line_become_advice_for_pages(text, expected):
    assert without_options(text) == expected
