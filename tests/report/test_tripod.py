from pathlib import Path

from calibrant.report.tripod import ITEMS

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "write-it-up.md"


def test_the_documentation_has_the_same_table():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert rows[1:] == [
        f"| {item.number} | {item.topic} | {item.in_report} | {item.in_validation} |"
        for item in ITEMS
    ]


def test_every_item_is_somewhere_and_named_once():
    numbers = [number for item in ITEMS for number in item.number.split(", ")]
    assert len(numbers) == len(set(numbers))
    assert all(item.in_report or item.in_validation for item in ITEMS)
