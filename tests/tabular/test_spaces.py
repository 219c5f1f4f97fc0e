from calibrant.tabular.spaces import describe_spaces


def test_values_that_differ_only_in_surrounding_spaces_are_named():
    columns = {"y": ["Yes", "Yes ", " no", None], "x": ["5", " 5"], "z": ["a", "b", " c", 1.0]}
    [notice] = describe_spaces(columns)
    assert notice.topic == "file"
    assert notice.text.endswith("are now the same: 'y' ('Yes' and 'Yes ').")


def test_a_file_with_spaces_after_every_separator_has_no_notice():
    assert describe_spaces({"y": [" yes", " no"], "x": [" 1", " 2"]}) == []


def test_many_columns_are_counted():
    columns = {f"x{number}": ["a", "a "] for number in range(7)}
    assert describe_spaces(columns)[0].text.endswith("'x4' ('a' and 'a ') and 2 more.")
