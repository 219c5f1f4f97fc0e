import pytest

from calibrant.tabular.class_names import RareClasses, resolve_classes


def resolve(labels, *, merge_case=False, rare="keep"):
    names = resolve_classes(labels, "y", merge_case=merge_case, rare_classes=RareClasses(rare))
    return dict(names.changed), [notice.text for notice in names.notices]


def test_ordinary_names_are_kept_without_a_notice():
    assert resolve(["a"] * 20 + ["b"] * 3) == ({}, [])
    assert resolve(["1", "2", "1.5"]) == ({}, [])


def test_whole_numbers_lose_their_decimals():
    changed, [text] = resolve(["1.0", "2.0", "-3.00", "4"])
    assert changed == {"1.0": "1", "2.0": "2", "-3.00": "-3"}
    assert text == "Classes are named by whole numbers: '-3.00' is '-3'."


def test_whole_numbers_with_decimal_commas_lose_them_but_thousands_stay():
    assert resolve(["1,0", "2,0"])[0] == {"1,0": "1", "2,0": "2"}
    assert resolve(["1,000", "2,000"]) == ({}, [])


def test_spellings_of_a_name_are_named_and_merged_when_asked():
    labels = ["Yes"] * 5 + ["yes"] * 9 + ["YES "] + ["no"] * 4 + ["so  so", "so so"]
    changed, [text] = resolve(labels)
    assert changed == {}
    assert "'yes' (9), 'Yes' (5), 'YES ' (1); 'so  so' (1), 'so so' (1)" in text
    assert text.endswith("If they are the same, use --merge-case.")
    changed, [text] = resolve(labels, merge_case=True)
    assert changed == {"Yes": "yes", "YES ": "yes", "so so": "so  so"}
    assert "'Yes' (5), 'YES ' (1) into 'yes' (9)" in text


def test_rare_classes_are_merged_when_asked():
    labels = ["a"] * 20 + ["b"] * 9 + ["c"] * 2
    changed, [text] = resolve(labels, rare="merge")
    assert changed == {"b": "other", "c": "other"}
    assert text == "Merged classes of 'y' with fewer than 10 rows into 'other': 'b' (9), 'c' (2)."


def test_rare_classes_join_a_class_that_is_named_other():
    changed, [text] = resolve(["a"] * 20 + ["Other"] * 15 + ["c"] * 2, rare="merge")
    assert changed == {"c": "Other"}
    assert "into 'Other': 'c' (2)" in text


@pytest.mark.parametrize("labels", [["a"] * 20 + ["b"] * 3, ["a"] * 20 + ["other"] * 3])
def test_a_single_rare_class_is_not_merged_with_itself(labels):
    changed, [text] = resolve(labels, rare="merge")
    assert changed == {}
    assert "is the only class of 'y' with fewer than 10 rows, so it was not merged" in text


def test_rare_classes_are_dropped_when_asked():
    changed, [text] = resolve(["a"] * 20 + ["b"] * 9 + ["c"] * 2, rare="drop")
    assert changed == {"b": None, "c": None}
    assert text.startswith("Left out 11 rows of classes of 'y' with fewer than 10 rows: 'b' (9)")


def test_rare_spellings_are_counted_after_they_are_merged():
    labels = ["a"] * 20 + ["b"] * 6 + ["B"] * 5 + ["c"] * 2
    changed, _ = resolve(labels, merge_case=True, rare="drop")
    assert changed == {"B": "b", "c": None}
    changed, _ = resolve(["a"] * 20 + ["b"] * 3 + ["B"] * 2, merge_case=True, rare="drop")
    assert changed == {"b": None, "B": None}


def test_words_for_missing_values_are_kept_as_classes_and_named():
    changed, [text] = resolve(["a"] * 20 + ["unknown"] * 20 + ["Not Known"] * 20)
    assert changed == {}
    assert len(resolve(["a"] * 20 + ["b"] * 20 + ["none"] * 3, rare="drop")[1]) == 1
    assert "'Not Known', 'unknown' are classes of 'y' here" in text
    assert "use --missing 'Not Known' --missing unknown" in text
