import pickle

import pytest

from calibrant.tabular.encodings import decode_text

TEXT = "name,class\nMédecin à Köln,“Ja”\nZoë,“Nein”\n"


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig"])
def test_utf_8_is_read_without_a_notice(codec):
    assert decode_text(TEXT.encode(codec), "t.csv") == (TEXT, ())


@pytest.mark.parametrize(
    ("codec", "name"),
    [
        ("cp1252", "Windows-1252"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
    ],
)
def test_other_encodings_are_read_with_a_notice_and_an_example(codec, name):
    text, [notice] = decode_text(TEXT.encode(codec), "t.csv")
    assert text == TEXT
    assert f"t.csv is not UTF-8 and was read as {name}, for example 'Médecin'" in notice.text


def test_bytes_that_windows_does_not_define_are_latin_1():
    text, [notice] = decode_text("é\x81,x\n".encode("latin-1"), "t.csv")
    assert text == "é\x81,x\n"
    assert "Latin-1" in notice.text


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)),
        pickle.dumps([1, 2]),
        b"a,b\n\0,1\n",
        b"\xff\xfe\x00\xd8a\x00",
        b"\x89\x02",
    ],
    ids=["all bytes", "pickle", "zero", "half of a pair", "control character"],
)
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError, match="contains bytes that are not text"):
        decode_text(data, "t.csv")
