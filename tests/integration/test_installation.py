import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
FIT = """
from calibrant._core import merging
from calibrant.calibrators import ENIR
enir = ENIR().fit([0.1, 0.2, 0.3, 0.4, 0.7, 0.9], [0, 0, 1, 0, 1, 1])
print(merging.__file__, merging.KERNEL, enir.predict([0.0, 0.35, 0.8]))
"""


def has_setuptools():
    try:
        return int(version("setuptools").split(".")[0]) >= 77
    except PackageNotFoundError:
        return False


@pytest.mark.skipif(not has_setuptools(), reason="building a wheel needs setuptools 77 or newer")
@pytest.mark.parametrize(
    ("compiler", "kernel"), [("cc", "compiled"), ("/bin/false", "python")], ids=["gcc", "no gcc"]
)
def test_the_wheel_works_with_and_without_a_compiler(compiler, kernel, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not here")
    source, installed = tmp_path / "source", tmp_path / "installed"
    no_build = shutil.ignore_patterns("*.so", "*.pyd", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT / "src", source / "src", ignore=no_build)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    run = [sys.executable, "-W", "ignore", "-c"]
    subprocess.run(
        [*run, BUILD, str(tmp_path)],
        cwd=source,
        env=os.environ | {"CC": compiler},
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(installed)
    said = subprocess.run(
        [*run, FIT],
        env=os.environ | {"PYTHONPATH": str(installed)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert said.split() == [
        str(installed / "calibrant" / "merging.py"),
        kernel,
        "[0.",
        "0.5",
        "1.",
        "]",
    ]
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".c")]
