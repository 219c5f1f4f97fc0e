import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from calibrant import calibrators
from calibrant._core.registries import CALIBRATORS
from calibrant.calibrators import ENIR, AutoCalibrator, PairwiseCalibrator, TemperatureScaling
from calibrant.calibrators._resolution import name_calibrator, resolve_calibrator


@pytest.mark.parametrize("name", CALIBRATORS)
def test_every_name_resolves_to_a_public_calibrator(name):
    calibrator = resolve_calibrator(name, binary=False)
    inner = calibrator.calibrator if isinstance(calibrator, PairwiseCalibrator) else calibrator
    assert type(inner) is CALIBRATORS[name]
    assert type(inner).__name__ in calibrators.__all__


def test_auto_depends_on_the_problem():
    assert isinstance(resolve_calibrator("auto", binary=False), AutoCalibrator)
    enir = resolve_calibrator("auto", binary=True)
    assert isinstance(enir, ENIR)
    assert not enir.floored


def test_objects_are_cloned():
    isotonic = IsotonicRegression(out_of_bounds="clip")
    calibrator = resolve_calibrator(isotonic, binary=True)
    assert calibrator is not isotonic
    assert calibrator.out_of_bounds == "clip"
    assert isinstance(resolve_calibrator(isotonic, binary=False), PairwiseCalibrator)
    assert isinstance(resolve_calibrator(LogisticRegression(), binary=False), LogisticRegression)


def test_a_calibrator_is_named_after_the_method_or_its_type():
    for method, name in (("sigmoid", "sigmoid"), ("auto", "ENIR"), (ENIR(), "ENIR")):
        assert name_calibrator(method, resolve_calibrator(method, binary=True)) == name


@pytest.mark.parametrize(
    ("method", "binary", "message"),
    [
        ("platt", False, r"method must be one of \['auto', 'beta', .* got 'platt'"),
        (ENIR, True, "Pass an instance, such as ENIR"),
        (3, True, "got 3"),
        (TemperatureScaling(), True, "requires a binary calibrator"),
    ],
)
def test_anything_else_raises_a_clear_error(method, binary, message):
    with pytest.raises(ValueError, match=message):
        resolve_calibrator(method, binary=binary)
