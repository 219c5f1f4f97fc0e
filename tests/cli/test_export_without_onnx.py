"""``calibrant export`` where the extra "onnx" is not installed, as in a new environment."""

import subprocess
import sys

import pytest

WITHOUT = """
import sys
sys.modules[{missing!r}] = None  # as if it were not installed
from calibrant.cli import app
app(["export", {model!r}, {output!r}])
"""


@pytest.mark.parametrize("missing", ["onnx", "skl2onnx"])
def test_the_hint_names_the_package_and_the_extra(model, tmp_path, missing):
    if missing != "onnx":
        pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")
    output = tmp_path / "model.onnx"
    code = WITHOUT.format(missing=missing, model=str(model), output=str(output))
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert f"requires {missing}, which is not installed." in result.stderr
    assert "pip install 'calibrant[onnx]'" in result.stderr
    assert result.stdout == ""
    assert not output.exists()
