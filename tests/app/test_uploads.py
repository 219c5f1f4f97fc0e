"""Files are taken within limits, and what is wrong with them is said in words."""

import io
import pickle
import zipfile
from urllib.parse import quote

import pytest

from calibrant.app import uploads
from calibrant.tabular.data_files import MOST_UNPACKED
from tests.app.visiting import HOSTILE, make_table, project_of, text_of


@pytest.fixture
def private_folder(app):
    return app.folder


def list_files(folder):
    return {path for path in folder.rglob("*") if path.is_file()}


def test_a_file_that_is_too_large_is_refused_while_it_arrives(visitor, private_folder, monkeypatch):
    monkeypatch.setattr(uploads, "MOST_BYTES", 2**20)
    before, sent = list_files(private_folder), []

    def blocks():
        for _ in range(64):
            sent.append(1)
            yield b"x" * 2**16

    answer = visitor.send(f"{visitor.home}/upload/table", blocks())
    assert answer.status_code == 413
    assert "at most 1 MB" in answer.json()["error"]
    assert list_files(private_folder) == before


def test_an_empty_file_is_refused(visitor, private_folder):
    before = list_files(private_folder)
    answer = visitor.send(f"{visitor.home}/upload/table", b"")
    assert "empty" in answer.json()["error"]
    assert list_files(private_folder) == before


def make_workbook_bomb():
    """A workbook of a kilobyte that says that it unpacks to more than the limit."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 2**20)
        archive.infolist()[-1].file_size = MOST_UNPACKED
    return buffer.getvalue()


class Evil:
    def __reduce__(self):
        return eval, ("__import__('os').abort()",)


def make_model_of_pickles():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("schema.json", '{"__class__": "Evil", "__module__": "os"}')
        archive.writestr("model.pkl", pickle.dumps(Evil()))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("bomb.xlsx", make_workbook_bomb, "at most 512 MB"),
        ("cut.xlsx", lambda: make_workbook_bomb()[:500], "must be"),
        ("noise.csv", lambda: bytes(range(256)) * 40, "must be"),
        ("page.html", lambda: b"<!doctype html><html><body>no</body></html>", "web page"),
        ("model.pkl", lambda: pickle.dumps(Evil()), "must"),
        ("evil.skops", make_model_of_pickles, "must"),
    ],
)
def test_harmful_and_damaged_files_are_refused_in_words(visitor, name, content, said):
    page = visitor.put(f"{visitor.home}/upload/table", content(), name)
    assert page.status_code == 400
    assert said in text_of(page)
    assert name in text_of(page)
    assert "Traceback" not in page.text
    assert "/tmp" not in text_of(page)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..\\..\\boot.ini", "/etc/passwd", "a\0b.csv", "..", "", "é" * 300]
)
def test_names_of_files_stay_in_their_folder(visitor, private_folder, name):
    page = visitor.put(f"{visitor.home}/upload/table", make_table(), quote(name))
    assert page.status_code == 200
    [file] = [
        path for path in (private_folder / project_of(page)[-16:]).iterdir() if path.is_file()
    ]
    assert file.read_bytes() == make_table()


def test_names_and_cells_stay_text(visitor):
    classes = ("<i>healthy</i>", "=1+1")
    table = make_table(names=HOSTILE, classes=classes)
    page = visitor.put(f"{visitor.home}/upload/table", table, "%3Cb%3E.csv")
    target = visitor.post(f"{project_of(page)}/columns")
    for text in (page.text, target.text):
        assert "<script>document" not in text
        assert "&lt;script&gt;document" in text
        assert "<b>bold" not in text
    assert "<i>healthy" not in target.text
    assert "&lt;i&gt;healthy" in target.text


def test_projects_do_not_mix(visitor):
    pages = [
        visitor.put(f"{visitor.home}/upload/table", make_table(names=names), "same.csv")
        for names in (("age", "dose", "sex", "first"), ("age", "dose", "sex", "second"))
    ]
    assert project_of(pages[0]) != project_of(pages[1])
    for page, own, other in zip(pages, ("first", "second"), ("second", "first"), strict=True):
        again = visitor.get(f"{project_of(page)}/columns")
        assert f"<bdi>{own}</bdi>" in again.text
        assert f"<bdi>{other}</bdi>" not in again.text


def test_an_unknown_project_says_what_to_do(visitor):
    answer = visitor.client.get(f"{visitor.home}/p/0123456789abcdef/report")
    assert answer.status_code == 404
    assert "Choose the file again" in text_of(answer)
    assert visitor.secret not in text_of(answer)
