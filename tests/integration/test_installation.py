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
print(merging.__file__, merging.KERNEL, *enir.predict([0.0, 0.35, 0.8]), sep="\\n")
"""


def has_setuptools():
    try:
        return int(version("setuptools").split(".")[0]) >= 77
    except PackageNotFoundError:
        return False


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not has_setuptools(), reason="building a wheel needs setuptools 77 or newer"
    ),
]


@pytest.fixture(scope="module")
def build_wheel(tmp_path_factory):
    """Build a wheel with a given C compiler from a copy of the repository's own files."""

    def build(compiler):
        source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
        no_builds = shutil.ignore_patterns("*.so", "*.pyd", "*.egg-info", "__pycache__")
        for folder in ("src", "experiments", "benchmarks", "tests"):
            if (ROOT / folder).is_dir():
                shutil.copytree(ROOT / folder, source / folder, ignore=no_builds)
        for name in ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, source)
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", BUILD, str(target)],
            cwd=source,
            env=os.environ | {"CC": compiler},
            check=True,
            capture_output=True,
        )
        (wheel,) = target.glob("*.whl")
        return wheel

    return build


@pytest.mark.parametrize(
    ("compiler", "kernel"), [("cc", "compiled"), ("/bin/false", "python")], ids=["cc", "no cc"]
)
def test_the_wheel_works_with_and_without_a_compiler(compiler, kernel, build_wheel, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    zipfile.ZipFile(build_wheel(compiler)).extractall(tmp_path)
    printed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIT],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    module = str(tmp_path / "calibrant" / "_core" / "merging.py")
    assert printed.split() == [module, kernel, "0.0", "0.5", "1.0"]


def test_the_wheel_contains_the_library_and_nothing_else(build_wheel):
    files = {Path(name) for name in zipfile.ZipFile(build_wheel("/bin/false")).namelist()}
    metadata = {path for path in files if path.parts[0].endswith(".dist-info")}
    compiled = {".pyc", ".pyd", ".so"}
    source = ROOT / "src"
    expected = {
        path.relative_to(source)
        for path in (source / "calibrant").rglob("*")
        if path.is_file() and path.suffix not in {".c", *compiled}
    }
    assert {path for path in files - metadata if path.suffix not in compiled} == expected
