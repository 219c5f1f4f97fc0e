import subprocess
import sys

import pytest

import calibrant
from calibrant._core.merging import KERNEL

HEAVY = {"sklearn", "numpy", "scipy", "pandas", "matplotlib", "joblib", "dask", "onnx"}


def modules_after(code, *arguments):
    """What a fresh interpreter has imported at the end, and what it printed."""
    ask = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    done = subprocess.run(
        [sys.executable, "-c", f"{ask}\n{code}", *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(done.stderr.split()), done.stdout


def test_the_package_is_imported_without_its_dependencies():
    imported, _ = modules_after("import calibrant; calibrant.__version__; dir(calibrant)")
    assert "calibrant" in imported
    assert imported & HEAVY == set()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--help"], "report"),
        (["datasets", "--help"], "fetch"),
        (["report", "--help"], "--target"),
        (["fit", "--help"], "--help"),
        (["calibrate", "--help"], "--help"),
        (["export", "--help"], "ONNX"),
        (["--version"], f"calibrant {calibrant.__version__} ({KERNEL} kernel)\n"),
    ],
)
def test_the_command_line_answers_without_scikit_learn(arguments, expected):
    imported, printed = modules_after("from calibrant.cli import app; app()", *arguments)
    assert expected in printed
    assert "typer" in imported
    assert imported & HEAVY == set()


def test_the_estimator_imports_no_models_and_no_package_beyond_those_of_scikit_learn():
    ours, _ = modules_after("from calibrant import CalibratedClassifier")
    peer, _ = modules_after("import sklearn.calibration")
    packages = {name.split(".")[0] for name in ours} - {name.split(".")[0] for name in peer}
    assert packages - sys.stdlib_module_names == {"calibrant"}
    # What the user's estimator does not need is imported on use: these bring most of the rest.
    models = {"sklearn.ensemble", "sklearn.neighbors", "sklearn.discriminant_analysis"}
    assert ours & models == set()


WITHOUT_EXTRAS = '''
import sys

class NotInstalled:
    """Hide packages; None in sys.modules would also do so, but scikit-learn 1.7 reads it."""

    names = {"jinja2", "markupsafe", "matplotlib", "onnx", "pandas", "rich", "skops", "typer"}

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in cls.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NotInstalled)
from calibrant.report import Source, analyze, evaluate_probabilities
evaluation = evaluate_probabilities(
    [[0.9, 0.1], [0.2, 0.8]] * 20, [0, 1] * 20, calibrator="temperature", n_repeats=1
)
print(analyze(evaluation).best.name, Source("given").cells(0))
for statement in (
    "from calibrant.report import write_report",
    "import calibrant.tabular",
    "from calibrant import to_onnx",
):
    try:
        exec(statement)
    except ImportError as error:
        print(error)
'''


def test_a_report_is_computed_without_extras_and_what_needs_them_names_the_packages():
    _, printed = modules_after(WITHOUT_EXTRAS)
    assert printed.splitlines() == [
        "your model []",
        "The page of a report requires jinja2, which is not installed. "
        "Install it with: pip install 'calibrant[cli]'",
        "Reading data files requires pandas, which is not installed. "
        "Install it with: pip install 'calibrant[cli]'",
        "Exporting to ONNX requires onnx, which is not installed. "
        "Install it with: pip install 'calibrant[onnx]'",
    ]


def test_public_names_are_imported_on_first_use():
    for name in calibrant.__all__:
        assert getattr(calibrant, name) is not None
    assert set(calibrant.__all__) <= set(dir(calibrant))
    assert calibrant.metrics.log_loss([0, 1], [[0.5, 0.5]] * 2) == pytest.approx(0.6931471805599453)
    for name in dir(calibrant):
        assert hasattr(calibrant, name)
    with pytest.raises(AttributeError, match=r"module 'calibrant' has no attribute 'CalibratedX'"):
        calibrant.CalibratedX  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'CalibratedX'"):
        from calibrant import CalibratedX  # noqa: F401
