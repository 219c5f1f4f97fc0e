"""``calibrant export``: saved models as ONNX files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calibrant.cli.arguments import Json, Quiet
from calibrant.cli.messages import Messages, one_line_errors, warnings_as_notes


def export(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="Model file written by calibrant fit, calibrate or update, or by calibrant.save.",
        ),
    ],
    output: Annotated[Path, typer.Argument(metavar="ONNX", help="ONNX file to write.")],
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Export a saved model to ONNX, which runs without Python.

    The file has one input per column or, for calibrators and models saved in Python, one input X.
    Its outputs are the label and the probabilities. They are compared with those of the model on
    random rows, and a file that differs by more than 1e-6 is not written.
    """
    from importlib.util import find_spec

    from calibrant._core.files import write_atomically
    from calibrant.cli.outputs import OutputKind, check_output

    messages = Messages(quiet, json)
    with one_line_errors(), warnings_as_notes(messages.note):
        check_output(output, OutputKind.onnx, inputs=[model])
        messages.check(inputs=[model], outputs=[output])
        import calibrant.onnx  # noqa: F401  (says how to install onnx if it is missing)
        from calibrant.tabular.onnx_models import export_model

        exported = export_model(model)
        difference = exported.check() if find_spec("onnxruntime") else None
        write_atomically(output, exported.converted.SerializeToString())
    if difference is None:
        messages.note(
            "The file was not compared with the model. Compare them on rows of your own with "
            "calibrant.onnx.largest_difference, which requires onnxruntime."
        )
        compared = None
    else:
        compared = f"On random rows, its probabilities differ by at most {difference:.1e}."
    messages.finish(
        f"Saved to {output}.",
        {"inputs": exported.inputs, "largest_difference": difference, "output": str(output)},
        summary=(f"Inputs: {', '.join(exported.inputs)}.", compared),
    )
