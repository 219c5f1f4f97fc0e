import os
import zipfile
from io import BytesIO

import pytest

from calibrant.cli.outputs import OutputKind, check_output

PAGE = b"<!doctype html>\n<title>page</title>"
TABLE = b"x,y\n1,a\n2,b\n"


def archive(*names):
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name in names:
            file.writestr(name, "content")
    return buffer.getvalue()


MODEL = archive("schema.json", "calibrant.json")
WORKBOOK = archive("[Content_Types].xml", "xl/workbook.xml")
USUAL = {
    OutputKind.table: ("out.csv", TABLE),
    OutputKind.workbook: ("out.xlsx", WORKBOOK),
    OutputKind.model: ("out.skops", MODEL),
    OutputKind.page: ("out.html", PAGE),
    OutputKind.record: ("out.json", b'{\n "calibrant": "0.2.0"\n}\n'),
    OutputKind.onnx: ("out.onnx", b"\x08\t\x12\tcalibrant\x1a\x050.1.0:"),
}
# What a command asks for: a table becomes a workbook by its suffix.
ASKED = {kind: OutputKind.table if kind is OutputKind.workbook else kind for kind in OutputKind}


@pytest.mark.parametrize("kind", OutputKind)
def test_a_file_of_the_same_kind_may_be_replaced_and_so_may_an_empty_one(tmp_path, kind):
    name, content = USUAL[kind]
    check_output(tmp_path / name, ASKED[kind])
    for existing in (content, b"", b" \n"):
        (tmp_path / name).write_bytes(existing)
        check_output(tmp_path / name, ASKED[kind])


@pytest.mark.parametrize("found", OutputKind)
@pytest.mark.parametrize("kind", OutputKind)
def test_a_file_of_another_kind_is_not_replaced_whatever_its_name(tmp_path, kind, found):
    if kind is found:
        return
    path = tmp_path / USUAL[kind][0]
    texts = {OutputKind.table, OutputKind.page, OutputKind.record}
    if {kind, found} <= texts and found is not OutputKind.page:
        path = path.with_suffix("")  # text with the suffix of a kind is taken for that kind
    path.write_bytes(USUAL[found][1])
    with pytest.raises(ValueError, match="must not replace a file of another kind") as raised:
        check_output(path, ASKED[kind])
    assert f"{found}" in str(raised.value)
    assert "remove the file first" in str(raised.value)
    assert path.read_bytes() == USUAL[found][1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("notes.txt", b"Call the clinic, please.\nThank you\n"),
        ("Makefile", b"all:\n\tmake test\n"),
        ("out", b"\x80\x04\x95\0\0"),
        ("out.txt", archive("member")),
    ],
)
def test_notes_programs_and_other_files_are_not_replaced_by_a_table(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match="must not replace a file of another kind"):
        check_output(tmp_path / name, OutputKind.table)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_table_without_a_telling_suffix_is_recognized(tmp_path, mark):
    path = tmp_path / "table.txt"
    path.write_bytes(TABLE.replace(b",", mark.encode()) * 2000)
    check_output(path, OutputKind.table)
    with pytest.raises(ValueError, match="is a table, and a model would replace it"):
        check_output(path, OutputKind.model)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("out.skops", OutputKind.table),
        ("out.html", OutputKind.table),
        ("out.xls", OutputKind.table),
        ("out.ods", OutputKind.table),
        ("out.parquet", OutputKind.table),
        ("out.csv", OutputKind.model),
        ("out.XLSX", OutputKind.model),
        ("out.html", OutputKind.model),
        ("out.csv", OutputKind.page),
        ("out.skops", OutputKind.page),
        ("out.csv", OutputKind.record),
        ("out.html", OutputKind.record),
        ("out.onnx", OutputKind.model),
        ("out.onnx", OutputKind.page),
        ("out.skops", OutputKind.onnx),
        ("out.csv", OutputKind.onnx),
    ],
)
def test_a_suffix_of_another_kind_is_refused(tmp_path, name, kind):
    with pytest.raises(ValueError, match="suffix"):
        check_output(tmp_path / name, kind)


@pytest.mark.parametrize("spelling", ["same", "relative", "symbolic link", "hard link", "folder"])
@pytest.mark.parametrize("kind", [OutputKind.table, OutputKind.model, OutputKind.page])
def test_an_input_is_refused_by_any_path(tmp_path, monkeypatch, spelling, kind):
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "data.csv"
    source.write_bytes(TABLE)
    (tmp_path / "sub").mkdir()
    try:
        output = {
            "same": lambda: source,
            "relative": lambda: "sub/../data.csv",
            "symbolic link": lambda: os.symlink(source, "link.csv") or "link.csv",
            "hard link": lambda: os.link(source, "hard.csv") or "hard.csv",
            "folder": lambda: os.symlink(tmp_path, "sub/f") or "sub/f/data.csv",
        }[spelling]()
    except OSError:
        pytest.skip("links are not permitted here")
    with pytest.raises(ValueError, match=r"must not replace an input.*data\.csv"):
        check_output(output, kind, inputs=[None, source])
    assert source.read_bytes() == TABLE


def test_standard_input_from_a_file_is_an_input(tmp_path, monkeypatch):
    source = tmp_path / "data.csv"
    source.write_bytes(TABLE)
    with source.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        with pytest.raises(ValueError, match="and standard input are the same file"):
            check_output(source, OutputKind.table, inputs=["-"])


def test_standard_output_must_not_append_to_an_input(tmp_path, monkeypatch):
    source = tmp_path / "data.csv"
    source.write_bytes(TABLE)
    with source.open("a") as file:
        monkeypatch.setattr("sys.stdout", file)
        with pytest.raises(ValueError, match=r"standard output and .* are the same file"):
            check_output("-", OutputKind.table, inputs=[source])


def test_two_outputs_must_differ(tmp_path):
    with pytest.raises(ValueError, match="given for two of them"):
        check_output(
            tmp_path / "out", OutputKind.page, outputs=[None, tmp_path / "." / "x" / ".." / "out"]
        )
    check_output(tmp_path / "out", OutputKind.page, outputs=[tmp_path / "other"])


@pytest.mark.skipif(os.name != "posix", reason="devices are files on POSIX only")
def test_a_device_may_be_an_input_and_an_output():
    check_output("/dev/null", OutputKind.table, inputs=["/dev/null"])
