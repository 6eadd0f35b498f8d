"""The socket side of the fake GitHub: it ends at once and hides no fault."""

import http.client
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from tests.fakes.github.exchange import Request
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.server import Server, Wire


def connect(url: str) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)


def ask(connection: http.client.HTTPConnection) -> int:
    connection.request("GET", "/rate_limit")
    response = connection.getresponse()
    response.read()
    return response.status


def test_the_end_does_not_wait_for_a_client_that_stays_connected() -> None:
    with FakeGitHub() as github:
        connection = connect(github.api_url)
        assert ask(connection) == 200
    with closing(connection), pytest.raises(ConnectionError):
        ask(connection)


def test_a_client_that_hangs_up_is_no_fault() -> None:
    with FakeGitHub() as github, closing(connect(github.api_url)) as connection:
        connection.putrequest("POST", "/rate_limit")
        connection.putheader("Content-Length", "7")
        connection.endheaders(b"cut")


def test_a_fault_of_the_server_is_raised_at_the_end() -> None:
    def respond(request: Request) -> Wire:
        raise LookupError(request.path)

    def serve() -> None:
        with (
            Server(respond) as server,
            closing(connect(server.url)) as connection,
            pytest.raises(ConnectionError),
        ):
            ask(connection)

    with pytest.raises(LookupError, match="/rate_limit"):
        serve()


def test_a_body_in_chunks_is_put_together() -> None:
    heard: list[bytes] = []

    def respond(request: Request) -> Wire:
        heard.append(request.body)
        return Wire(204, {}, b"")

    with Server(respond) as server, closing(connect(server.url)) as connection:
        connection.request("POST", "/", iter([b"one ", b"two"]), encode_chunked=True)
        assert connection.getresponse().status == 204
    assert heard == [b"one two"]
