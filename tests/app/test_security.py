"""Requests from elsewhere are refused, whatever they ask for."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from calibrant.app.security import make_secret
from tests.app.visiting import make_table

FOREIGN = "https://elsewhere.example"


def test_secrets_are_long_and_differ():
    secrets = {make_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert min(map(len, secrets)) >= 32


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/p/1/report", "/an-other-secret/", "//"])
def test_requests_without_the_secret_are_refused(visitor, path):
    answer = visitor.client.get(f"{visitor.origin}{path}")
    assert answer.status_code == 403
    assert visitor.secret not in answer.text


def test_a_part_of_the_secret_is_not_enough(visitor):
    for secret in (visitor.secret[:-1], f"{visitor.secret}x", visitor.secret.swapcase()):
        assert visitor.client.get(f"{visitor.origin}/{secret}/").status_code == 403


@pytest.mark.parametrize(
    "host", ["elsewhere.example", "elsewhere.example:{}", "127.0.0.1", "0.0.0.0:{}", "127.0.0.1:1"]
)
def test_another_host_is_refused(visitor, host):
    host = host.format(visitor.origin.rpartition(":")[2])
    assert visitor.client.get(f"{visitor.home}/", headers={"host": host}).status_code == 403


def test_this_computer_goes_by_two_names(visitor):
    assert visitor.client.get(f"{visitor.home}/").status_code == 200
    assert (
        visitor.client.get(
            f"{visitor.home}/",
            headers={"host": visitor.origin[7:].replace("127.0.0.1", "localhost")},
        ).status_code
        == 200
    )


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": FOREIGN},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "https://127.0.0.1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_forms_and_files_of_other_sites_are_refused(visitor, headers):
    assert visitor.client.post(f"{visitor.home}/example", headers=headers).status_code == 403
    assert visitor.client.post(f"{visitor.home}/quit", headers=headers).status_code == 403
    answer = visitor.client.put(
        f"{visitor.home}/upload/table", content=make_table(), headers=headers
    )
    assert answer.status_code == 403


def test_pages_are_not_sent_to_other_origins(visitor):
    answer = visitor.client.get(f"{visitor.home}/", headers={"origin": FOREIGN})
    assert answer.status_code == 403


def test_a_request_without_a_path_is_refused(visitor):
    host = visitor.origin.removeprefix("http://")
    with socket.create_connection(host.split(":"), timeout=10) as connection:
        request = f"OPTIONS * HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        connection.sendall(request.encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 403")


def test_an_unknown_entrance_is_no_page(visitor):
    answer = visitor.send(f"{visitor.home}/upload/elsewhere", b"a,b\n1,2\n")
    assert answer.status_code == 404
    assert "start page" in answer.json()["error"]


def test_other_sites_may_open_the_application_but_not_embed_it(visitor):
    page = {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"}
    assert visitor.client.get(f"{visitor.home}/", headers=page).status_code == 200
    for place in ("iframe", "image", "script", "empty"):
        embedded = {"sec-fetch-site": "cross-site", "sec-fetch-dest": place}
        assert visitor.client.get(f"{visitor.home}/", headers=embedded).status_code == 403


@pytest.mark.parametrize("path", ["/", "/static/style.css", "/no-such-page", "/p/0/report"])
def test_every_answer_forbids_to_load_or_send_anything_elsewhere(visitor, path):
    headers = visitor.client.get(f"{visitor.home}{path}").headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self'" in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../../pyproject.toml",
        "/static/%2e%2e/%2e%2e/pyproject.toml",
        "/p/../../etc/passwd",
        "/p/..%2f..%2fetc%2fpasswd",
        "/p/0000000000000000/report/..%2f..%2fetc%2fpasswd",
        "/upload/..%2ftable",
    ],
)
def test_paths_lead_nowhere_else(visitor, path):
    answer = visitor.client.get(f"{visitor.home}{path}")
    assert answer.status_code in (403, 404, 405)
    assert "Traceback" not in answer.text
    assert "root:" not in answer.text


def test_many_requests_at_once_are_answered(visitor):
    paths = ["/", "/static/style.css", "/no-such-page", "/p/0/use", "/static/app.js"] * 10

    def visit(path):
        return visitor.client.get(f"{visitor.home}{path}").status_code

    with ThreadPoolExecutor(50) as visitors:
        found = list(visitors.map(visit, paths))
    assert found == [200, 200, 404, 404, 200] * 10
