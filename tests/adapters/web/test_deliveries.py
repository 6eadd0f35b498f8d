"""Webhooks over real HTTP: what is refused, what is stored, and when."""

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import httpx
import pytest
from sqlalchemy import Row, select
from structlog.testing import capture_logs

from patchwright.core.types.triggers import Ignored
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import deliveries, jobs
from patchwright.workers.db.upgrade import upgrade
from tests.adapters.store.world import trigger
from tests.adapters.web.serving import MAX_BODY_BYTES, Site, serving
from tests.adapters.web.signed import SECRET, SIGNATURE, signature, signed
from tests.provision.servers import free_port
from tests.provision.starter import ready_starter
from tests.provision.waiting import wait_until

REQUEST = trigger("k1").model_dump_json().encode()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with closing(Database(f"sqlite:///{tmp_path}/web.db")) as database:
        upgrade(database)
        with serving(database) as running:
            yield running


def test_a_signed_request_is_accepted_and_stored(site: Site) -> None:
    answer = httpx.post(site.door(), content=REQUEST, headers=signed(REQUEST))
    assert (answer.status_code, answer.json()) == (202, {"status": "accepted"})
    [row] = _rows(site.database)
    # The body may hold a secret that somebody pasted; it is read before it is stored.
    assert (row.delivery_id, row.body) == ("d1", b"")
    wait_until(lambda: site.dispatched == [row.job_id], "dispatch", 10)


def test_a_redelivery_is_fine_and_does_nothing(site: Site) -> None:
    httpx.post(site.door(), content=REQUEST, headers=signed(REQUEST))
    again = httpx.post(site.door(), content=REQUEST, headers=signed(REQUEST))
    resent = httpx.post(site.door(), content=REQUEST, headers=signed(REQUEST, "d2"))
    for answer in (again, resent):
        assert (answer.status_code, answer.json()) == (200, {"status": "duplicate"})
    assert _count_jobs(site.database) == 1


def test_the_same_delivery_20_times_at_once_is_one_job(site: Site) -> None:
    def post(_: int) -> int:
        headers = signed(REQUEST)
        return httpx.post(site.door(), content=REQUEST, headers=headers).status_code

    with ThreadPoolExecutor(20) as senders:
        assert sorted(senders.map(post, range(20))) == [200] * 19 + [202]
    assert _count_jobs(site.database) == 1


def test_s68_the_answer_does_not_wait_for_work_nor_for_the_queue(
    tmp_path: Path,
) -> None:
    answered = threading.Event()
    waited: SimpleQueue[bool] = SimpleQueue()
    with closing(Database(f"sqlite:///{tmp_path}/web.db")) as database:
        upgrade(database)
        with serving(database, lambda _job: waited.put(answered.wait(10))) as site:
            answer = httpx.post(site.door(), content=REQUEST, headers=signed(REQUEST))
            answered.set()
    assert answer.status_code == 202
    assert waited.get(timeout=10)


def test_what_asks_for_nothing_is_stored_too(site: Site) -> None:
    body = Ignored(reason="no-mention").model_dump_json().encode()
    answer = httpx.post(site.door(), content=body, headers=signed(body))
    assert (answer.status_code, answer.json()) == (200, {"status": "ignored"})
    assert [row.reason for row in _rows(site.database)] == ["no-mention"]


def test_neither_signature_nor_credentials_are_stored(site: Site) -> None:
    headers = signed(REQUEST) | {"authorization": "Bearer planted", "cookie": "planted"}
    httpx.post(site.door(), content=REQUEST, headers=headers)
    [row] = _rows(site.database)
    assert "x-github-event" in row.headers
    assert "planted" not in row.headers
    assert signature(REQUEST) not in row.headers


@pytest.mark.parametrize("bad", ["", "sha256=", "sha256=" + "0" * 64, "sha1=00"])
def test_a_bad_signature_is_refused_and_nothing_is_stored(site: Site, bad: str) -> None:
    headers = signed(REQUEST) | {SIGNATURE: bad}
    with capture_logs() as logs:
        answer = httpx.post(site.door(), content=REQUEST, headers=headers)
    assert (answer.status_code, answer.json()) == (401, {"status": "bad-signature"})
    assert _rows(site.database) == []
    assert SECRET.decode() not in str(logs)
    refused = [entry for entry in logs if entry["event"] == "delivery_refused"]
    assert [entry["reason"] for entry in refused] == ["bad-signature"]


def test_a_body_that_makes_no_sense_is_refused(site: Site) -> None:
    for body in (b"", b"[", b"{}", b"\xff"):
        answer = httpx.post(site.door(), content=body, headers=signed(body))
        assert (answer.status_code, answer.json()) == (400, {"status": "bad-payload"})


def test_a_service_that_is_not_configured_is_not_there(site: Site) -> None:
    answer = httpx.post(site.door("gitlab"), content=REQUEST, headers=signed(REQUEST))
    assert answer.status_code == 404


def test_a_body_of_the_greatest_size_is_read(site: Site) -> None:
    body = REQUEST.ljust(MAX_BODY_BYTES)
    answer = httpx.post(site.door(), content=body, headers=signed(body))
    assert answer.status_code == 202


def test_a_body_that_is_too_large_is_refused(site: Site) -> None:
    body = REQUEST.ljust(MAX_BODY_BYTES + 1)
    answer = httpx.post(site.door(), content=body, headers=signed(body))
    assert (answer.status_code, answer.json()) == (413, {"status": "too-large"})
    assert _rows(site.database) == []


def test_a_body_that_is_announced_too_large_is_refused_unseen(site: Site) -> None:
    address = httpx.URL(site.door())
    connection = HTTPConnection(address.host, address.port, timeout=10)
    with closing(connection):
        connection.putrequest("POST", address.path)
        connection.putheader("content-length", str(MAX_BODY_BYTES + 1))
        connection.putheader(SIGNATURE, signature(b""))
        connection.endheaders()
        assert connection.getresponse().status == 413


def test_a_body_without_end_is_refused_before_it_ends(site: Site) -> None:
    sent, looks = 0, {SIGNATURE: signature(b"")}

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < 1000 * MAX_BODY_BYTES:
            sent += MAX_BODY_BYTES
            yield b" " * MAX_BODY_BYTES

    with closing(httpx.Client()) as client:
        try:
            answer = client.post(site.door(), content=endless(), headers=looks)
        except httpx.WriteError:
            pass
        else:
            assert answer.status_code == 413
    assert sent < 1000 * MAX_BODY_BYTES
    assert httpx.get(f"{site.url}/healthz").status_code == 200


def test_l5_a_sender_who_leaves_in_the_middle_is_no_error(site: Site) -> None:
    with capture_logs() as logs:
        _send_half(site)
        wait_until(lambda: _statuses(logs) == [499], "the end of the request", 10)
    assert [entry["log_level"] for entry in logs] == ["debug", "debug"]
    assert not any("exc_info" in entry for entry in logs)


def _send_half(site: Site) -> None:
    address = httpx.URL(site.door())
    connection = HTTPConnection(address.host, address.port, timeout=10)
    with closing(connection):
        connection.putrequest("POST", address.path)
        connection.putheader("content-length", "1000")
        connection.putheader(SIGNATURE, signature(b""))
        connection.endheaders()
        connection.send(b"half")


def _statuses(logs: Sequence[Mapping[str, Any]]) -> list[int]:
    return [entry["status"] for entry in logs if entry["event"] == "request"]


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json"])
def test_l4_no_page_of_a_framework_is_served(site: Site, path: str) -> None:
    assert httpx.get(site.url + path).status_code == 404


def test_without_an_id_the_body_itself_tells_a_redelivery(site: Site) -> None:
    headers = signed(REQUEST)
    del headers["x-github-delivery"]
    first = httpx.post(site.door(), content=REQUEST, headers=headers)
    second = httpx.post(site.door(), content=REQUEST, headers=headers)
    assert (first.status_code, second.status_code) == (202, 200)
    assert len(_rows(site.database)) == 1


def test_health_and_readiness(site: Site) -> None:
    assert httpx.get(f"{site.url}/healthz").json() == {"status": "ok"}
    ready = httpx.get(f"{site.url}/readyz")
    assert ready.status_code == 200
    assert ready.json() == {
        "status": "ready",
        "role": "web",
        "red": [],
        "parts": {
            "database": {"ok": True},
            "intake": {"ok": True},
            "workers": {"ok": True},
        },
    }


def test_without_its_intake_it_is_not_ready_and_stores_nothing(site: Site) -> None:
    site.inbox.close()
    ready = httpx.get(f"{site.url}/readyz")
    assert (ready.status_code, ready.json()["red"]) == (503, ["intake"])
    assert httpx.get(f"{site.url}/healthz").status_code == 503
    answer = httpx.post(site.door(), content=REQUEST, headers=signed(REQUEST))
    assert (answer.status_code, answer.json()) == (
        503,
        {"status": "intake-unavailable"},
    )


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_answered_with_2xx_survives_the_end_of_the_process(
    tmp_path: Path, how: signal.Signals
) -> None:
    database_url = f"sqlite:///{tmp_path}/web.db"
    port = free_port()
    program = ("tests.adapters.web.serving", database_url, str(port))
    process = ready_starter().start_module(*program)
    door = f"http://127.0.0.1:{port}/api/integration/github/events"
    try:
        wait_until(lambda: _is_ready(port), "the web process", 20)
        answer = httpx.post(door, content=REQUEST, headers=signed(REQUEST))
        assert answer.status_code == 202
    finally:
        process.send_signal(how)
        process.wait(20)
    with closing(Database(database_url)) as database:
        assert [row.delivery_id for row in _rows(database)] == ["d1"]
        assert _count_jobs(database) == 1


def _is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
    except httpx.ConnectError:
        return False


def _rows(database: Database) -> list[Row[Any]]:
    with database.reading() as connection:
        return list(connection.execute(select(deliveries)))


def _count_jobs(database: Database) -> int:
    with database.reading() as connection:
        return len(connection.execute(select(jobs.c.id)).all())
