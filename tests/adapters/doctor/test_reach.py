"""What is reached from here, and what reaches us."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from patchwright.core.doctor import CheckContext, CheckStatus
from patchwright.integrations.http.signatures import sign_sha256
from tests.adapters.doctor.cases import SECRET, case_of, examined
from tests.fakes.tls import make_authority, tls_before
from tests.provision.servers import free_port

OK = {"status": "ok"}
PAGE = (200, "<html>not found, but politely</html>")


@contextmanager
def answering(
    health: tuple[int, object], delivery: tuple[int, object] = (404, {})
) -> Iterator[str]:
    """Serve something at an address that may be ours."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say(health)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["X-Hub-Signature-256"] == sign_sha256(body, SECRET)
            self._say(delivery)

        def _say(self, told: tuple[int, object]) -> None:
            status, said = told
            body = (said if isinstance(said, str) else json.dumps(said)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

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


@contextmanager
def redirecting(url: str) -> Iterator[str]:
    """Serve what sends everybody away."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", url)
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


def at(folder: Path, url: str, **more: str) -> CheckContext:
    return case_of(
        folder, SERVER__PUBLIC_URL=url, GITHUB__WEBHOOK_SECRET=SECRET, **more
    )


@pytest.mark.parametrize(
    ("delivery", "status", "words", "fix"),
    [
        ((400, {"status": "bad-payload"}), CheckStatus.OK, "is this service", ""),
        (
            (401, {"status": "bad-signature"}),
            CheckStatus.FAILED,
            "another",
            "restart it",
        ),
        (
            (404, {"status": "not-configured"}),
            CheckStatus.FAILED,
            "no GitHub",
            "start it",
        ),
        ((404, "<html>"), CheckStatus.FAILED, "answers 404", "must forward every path"),
        ((202, {"status": "accepted"}), CheckStatus.FAILED, "answers 202", "the proxy"),
    ],
)
def test_who_answers_at_the_public_address_is_known_by_the_secret(
    tmp_path: Path,
    delivery: tuple[int, object],
    status: CheckStatus,
    words: str,
    fix: str,
) -> None:
    with answering((200, OK), delivery) as url:
        told = examined("public-url", at(tmp_path, url))
    assert told.status is status
    assert words in told.found
    assert fix in told.fix


def test_somebody_elses_page_is_not_taken_for_us(tmp_path: Path) -> None:
    with answering(PAGE) as url:
        told = examined("public-url", at(tmp_path, url))
    assert told.found == f"something else answers at {url} (status 200)"


def test_whoever_redirects_is_not_followed_with_our_signature(tmp_path: Path) -> None:
    with answering((200, OK)) as elsewhere, redirecting(f"{elsewhere}/x") as url:
        told = examined("public-url", at(tmp_path, url))
    assert told.found == f"something else answers at {url} (status 302)"


def test_an_address_where_nobody_listens_is_told(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    told = examined("public-url", at(tmp_path, url))
    assert told.found == f"{url}: connection refused"
    assert "patchwright serve" in told.fix


def test_a_certificate_that_nobody_trusts_is_told(tmp_path: Path) -> None:
    authority = make_authority(tmp_path, "ours")
    with (
        answering((200, OK)) as plain,
        tls_before(("127.0.0.1", int(plain.rpartition(":")[2])), authority) as url,
    ):
        public = examined("public-url", at(tmp_path, url))
        way = examined("network", case_of(tmp_path, **github_at(url)))
        bundle = str(authority.bundle)
        trusted = case_of(tmp_path, **github_at(url), GITHUB__CA_BUNDLE=bundle)
        assert examined("network", trusted).status is CheckStatus.OK
    assert "bad certificate: " in public.found
    assert "send the whole chain" in public.fix
    assert "github.ca_bundle" in way.fix


def test_an_address_that_is_missing_matters_to_an_app(tmp_path: Path) -> None:
    assert examined("public-url", case_of(tmp_path)).status is CheckStatus.SKIPPED
    told = examined("public-url", case_of(tmp_path, GITHUB__APP_ID="1"))
    assert told.status is CheckStatus.WARNING


def test_each_service_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    gone = f"http://127.0.0.1:{free_port()}"
    with answering((200, OK)) as url:
        case = case_of(tmp_path, **github_at(url), JIRA__BASE_URL=gone)
        told = examined("network", case)
        fine = case_of(tmp_path, **github_at(url), LLM__BASE_URL=f"{url}/v1")
        assert examined("network", fine).found == url.removeprefix("http://")
    assert told.found == f"{gone.removeprefix('http://')}: connection refused"
    assert "let this machine reach 127.0.0.1" in told.fix


def github_at(url: str) -> Mapping[str, str]:
    return {"GITHUB__API_URL": f"{url}/api/v3", "GITHUB__WEB_URL": url}
