"""Nobody sends more requests to the API than the service allows."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from patchwright.client import ApiProblemError, Client, TooManyRequestsError
from patchwright.workers.db.database import Database
from patchwright.workers.web.visitors import MAX_WRONG_TOKENS
from tests.adapters.api.serving import READER, WRITER, ApiSite, serving_api
from tests.adapters.api.test_streams import ids_from, socket_to, stream_of
from tests.fakes.clock import FakeClock
from tests.schema import add_sqlite_file

MOST = 3
ACCOUNT = "/api/account"


@pytest.fixture
def strict_site(tmp_path: Path) -> Iterator[ApiSite]:
    """Serve an API that allows three requests a minute."""
    file = tmp_path / "patchwright.db"
    add_sqlite_file(file)
    clock = FakeClock()
    with (
        closing(Database(f"sqlite:///{file}", clock=clock)) as database,
        serving_api(database, tmp_path, clock, requests_per_minute=MOST) as site,
    ):
        yield site


def use_up(site: ApiSite, token: str) -> None:
    for _ in range(MOST):
        site.ask("GET", ACCOUNT, token=token)


def test_who_sends_too_many_is_told_when_to_go_on(strict_site: ApiSite) -> None:
    clock = strict_site.world.clock
    told = []
    for _ in range(MOST):
        answer = strict_site.ask("GET", ACCOUNT, token=READER)
        assert answer.status_code == 200
        assert answer.headers["ratelimit-policy"] == '"requests";q=3;w=60'
        told.append(answer.headers["ratelimit"])
        clock.advance(10)
    assert told == [
        '"requests";r=2;t=60',
        '"requests";r=1;t=50',
        '"requests";r=0;t=40',
    ]
    refused = strict_site.ask("GET", ACCOUNT, token=READER)
    assert refused.status_code == 429
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["retry-after"] == "30"
    assert refused.headers["ratelimit"] == '"requests";r=0;t=30'
    assert refused.json() == {
        "type": "urn:patchwright:problem:too-many-requests",
        "title": "Too Many Requests",
        "status": 429,
        "detail": "These were too many requests. Wait 30 s, and send it again.",
        "code": "too-many-requests",
        "errors": [],
    }
    # Others are not concerned, and in half a minute there is one more.
    assert strict_site.ask("GET", ACCOUNT, token=WRITER).status_code == 200
    clock.advance(30)
    assert strict_site.ask("GET", ACCOUNT, token=READER).status_code == 200
    assert strict_site.ask("GET", ACCOUNT, token=READER).status_code == 429


def test_what_is_refused_counts_and_says_what_is_left(strict_site: ApiSite) -> None:
    answer = strict_site.ask("GET", "/api/settings", token=READER)
    assert answer.status_code == 403
    assert answer.headers["ratelimit"] == '"requests";r=2;t=60'
    missing = strict_site.ask("GET", "/api/runs/none", token=READER)
    assert missing.status_code == 404
    assert missing.headers["ratelimit"] == '"requests";r=1;t=60'


def test_a_request_that_is_refused_changes_nothing(strict_site: ApiSite) -> None:
    use_up(strict_site, WRITER)
    asked = {"repository": "acme/shop", "text": "Fix it."}
    answer = strict_site.ask("POST", "/api/conversations", token=WRITER, json=asked)
    assert answer.status_code == 429
    assert strict_site.dispatched == []


def test_streams_and_sockets_count_as_well(strict_site: ApiSite) -> None:
    job_id = strict_site.end_one()
    stream = strict_site.ask("GET", stream_of(strict_site, job_id), token=READER)
    assert stream.headers["ratelimit"] == '"requests";r=2;t=60'
    for _ in range(2):
        with socket_to(strict_site, job_id, token=READER) as socket:
            assert len(list(ids_from(socket))) == 12
    with pytest.raises(InvalidStatus) as refused:
        socket_to(strict_site, job_id, token=READER)
    response = refused.value.response
    assert response.status_code == 429
    assert response.headers["retry-after"] == "60"
    again = strict_site.ask("GET", stream_of(strict_site, job_id), token=READER)
    assert again.status_code == 429


def test_an_address_that_shows_no_token_has_a_limit_too(strict_site: ApiSite) -> None:
    asked = [strict_site.ask("GET", ACCOUNT, token="") for _ in range(MOST + 1)]
    assert [one.status_code for one in asked] == [401, 401, 401, 429]
    # Somebody with a token is not kept out by a neighbor.
    assert strict_site.ask("GET", ACCOUNT, token=READER).status_code == 200


def test_after_many_wrong_tokens_it_says_how_long_to_wait(lite_site: ApiSite) -> None:
    tries = [
        lite_site.ask("GET", ACCOUNT, token="pwt_wrong").status_code
        for _ in range(MAX_WRONG_TOKENS)
    ]
    assert tries == [*([401] * (MAX_WRONG_TOKENS - 1)), 429]
    # Whether this one is right, nobody learns now.
    refused = lite_site.ask("GET", ACCOUNT, token=READER)
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "900"
    # Who shows none has the usual limit.
    assert lite_site.ask("GET", ACCOUNT, token="").status_code == 401
    lite_site.world.clock.advance(900)
    assert lite_site.ask("GET", ACCOUNT, token=READER).status_code == 200


def test_health_and_documents_have_no_limit(strict_site: ApiSite) -> None:
    for path in ("/healthz", "/readyz", "/openapi.json", "/docs"):
        asked = {
            strict_site.ask("GET", path, token="").status_code for _ in range(MOST + 2)
        }
        assert 429 not in asked


def test_none_is_no_limit(lite_site: ApiSite, tmp_path: Path) -> None:
    database = lite_site.world.database
    with serving_api(database, tmp_path, requests_per_minute=0) as site:
        for _ in range(5):
            answer = site.ask("GET", ACCOUNT, token=READER)
            assert answer.status_code == 200
            assert "ratelimit" not in answer.headers


def test_a_client_is_told_how_long_to_wait(strict_site: ApiSite) -> None:
    job_id = strict_site.end_one()
    use_up(strict_site, READER)
    with strict_site.client(READER) as client:
        with pytest.raises(TooManyRequestsError) as refused:
            client.read_account()
        assert refused.value.retry_after_s == 60
        assert refused.value.code == "too-many-requests"
        with pytest.raises(TooManyRequestsError):
            next(client.stream_events(strict_site.conversation(job_id)))


def test_a_client_may_wait_and_goes_on(strict_site: ApiSite) -> None:
    job_id = strict_site.end_one()
    use_up(strict_site, READER)
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        strict_site.world.clock.advance(seconds)

    with Client(strict_site.url, READER, max_wait_s=60, wait=wait) as client:
        told = client.stream_events(strict_site.conversation(job_id))
        assert [one.id for one in told] == list(range(1, 13))
        assert waited == [60]
        use_up(strict_site, READER)
        assert client.read_account().role == "member"
        assert waited == [60, 60]
    use_up(strict_site, READER)
    with (
        Client(strict_site.url, READER, max_wait_s=59, wait=wait) as client,
        pytest.raises(TooManyRequestsError),
    ):
        client.read_account()
    assert waited == [60, 60]


@pytest.mark.parametrize("after", ["", "Wed, 21 Oct 2030 07:28:00 GMT", "²"])
def test_without_a_number_of_seconds_it_is_any_problem(after: str) -> None:
    with (
        refusing(after) as url,
        Client(url, READER, max_wait_s=60) as client,
        pytest.raises(ApiProblemError) as refused,
    ):
        client.read_account()
    assert not isinstance(refused.value, TooManyRequestsError)
    assert (refused.value.status, refused.value.code) == (429, "unknown")


@contextmanager
def refusing(after: str) -> Iterator[str]:
    """Serve what stands between a client and us, and lets nothing through."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(429)
            self.send_header("Retry-After", after)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
