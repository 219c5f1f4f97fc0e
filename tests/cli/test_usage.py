import pytest


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("fit t.csv", "calibrant: calibrant fit requires --target, but it was not given."),
        (
            "predict m.skops",
            "predict requires NEW, but it was not given. See calibrant predict --help.",
        ),
        ("report t.csv --target y --model oak", "--model must be one of random-forest, "),
        ("report t.csv --target y --model oak", "got 'oak'. See calibrant report --help."),
        ("fit t.csv --trget y", "calibrant fit has no option --trget. Did you mean --target?"),
        ("fit t.csv --zzz", "calibrant fit has no option --zzz. See calibrant fit --help."),
        ("--zzz", "calibrant has no option --zzz."),
        ("fit t.csv --target", "Option '--target' requires an argument. See calibrant fit --help."),
        ("fit t.csv --target y --seed x", "--seed: "),
        ("fit t.csv u.csv --target y", "calibrant fit takes only DATA, got also u.csv. See "),
        ("predict m n o p", "calibrant predict takes only MODEL and NEW, got also o p. See "),
        ("demo t.csv", "calibrant demo takes only options, got also t.csv. See "),
        ("burn t.csv", "No such command 'burn'. See calibrant --help."),
        ("datasets burn", "No such command 'burn'. See calibrant datasets --help."),
    ],
)
def test_a_usage_error_is_one_line(run, is_refused, line, message):
    assert is_refused(run(*line.split(), prog_name="calibrant"), message)


@pytest.mark.parametrize("line", [[], ["datasets"]])
def test_a_group_without_a_command_shows_its_help(run, line):
    result = run(*line)
    assert "Usage: " in result.output
    assert "Commands:" in result.output
    assert "calibrant: " not in result.output
