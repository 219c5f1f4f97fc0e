import pytest


@pytest.mark.parametrize("command", ["predict", "apply", "validate", "update"])
def test_a_model_after_its_data_is_noticed(run, is_refused, model, data, command):
    result = run(command, data, model)
    assert is_refused(
        result,
        f"The model must come before the data file, but {model} is a model, and {data} is not. "
        "Swap them.",
    )


def test_two_files_that_are_not_models_are_not_called_swapped(run, is_refused, data):
    assert is_refused(run("predict", data, data), "must be a file saved by calibrant")
