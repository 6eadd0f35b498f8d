"""Connections of strangers cost nobody else theirs."""

import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import pytest

from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.web.server import (
    GRACE_S,
    MOST_CONNECTIONS,
    WAIT_S,
    Connections,
    OpenConnection,
    most_connections,
)
from tests.adapters.store.world import trigger
from tests.adapters.web.serving import Site, serving
from tests.adapters.web.signed import signed
from tests.provision.waiting import wait_until

REQUEST = trigger("k1").model_dump_json().encode()


class Street:
    """Connections that note who was cut off, with a clock that one may set."""

    def __init__(self, most: int, proxies: frozenset[str] = frozenset()) -> None:
        self.now = 0.0
        self.cut: list[str] = []
        self.all = Connections(most, lambda: self.now, proxies.__contains__)

    def come(self, name: str, peer: str = "") -> OpenConnection | None:
        new = OpenConnection(peer or name, lambda: self.cut.append(name))
        return new if self.all.admit(new) else None


def test_h12_the_connection_that_waited_longest_gives_way() -> None:
    street = Street(most=2)
    for name in ("a", "b"):
        street.come(name)
    street.now = GRACE_S / 2
    street.come("c")
    assert street.cut == []
    street.now = GRACE_S
    street.come("d")
    assert (street.cut, len(street.all)) == (["a", "b"], 2)


def test_h12_a_complete_request_is_never_cut_off() -> None:
    street = Street(most=2)
    working = street.come("working")
    assert working is not None
    street.all.go_on(working)
    street.come("b")
    street.now = GRACE_S
    street.come("c")
    assert street.cut == ["b"]


def test_h12_one_more_comes_again_later_where_all_are_at_work() -> None:
    street = Street(most=1)
    first, second = street.come("a"), street.come("b")
    assert first is not None
    assert second is not None
    street.all.go_on(first)
    street.all.go_on(second)
    street.now = WAIT_S
    assert street.come("c") is None
    street.all.forget(first)
    assert street.come("c") is not None


def test_h12_one_address_pays_for_its_own_crowd() -> None:
    street = Street(most=8)
    street.come("true", "1.1.1.1")
    for number in range(6):
        street.now += GRACE_S
        street.come(f"bad{number}", "6.6.6.6")
    assert street.cut == ["bad0", "bad1"]


def test_h12_a_proxy_may_have_as_many_as_all() -> None:
    street = Street(most=8, proxies=frozenset({"10.0.0.1"}))
    for number in range(8):
        street.now += GRACE_S
        street.come(f"c{number}", "10.0.0.1")
    assert (street.cut, len(street.all)) == ([], 8)


def test_h12_who_says_nothing_is_cut_off_after_a_while() -> None:
    street = Street(most=8)
    street.come("a")
    street.now = WAIT_S - 1
    street.come("b")
    street.all.sweep()
    assert street.cut == []
    street.now = WAIT_S
    street.all.sweep()
    assert street.cut == ["a"]


@pytest.mark.parametrize(
    ("files", "most"), [(256, 64), (1024, 256), (8192, MOST_CONNECTIONS)]
)
def test_h12_connections_leave_files_for_everything_else(files: int, most: int) -> None:
    assert most_connections(files) == most


def test_h12_the_service_may_open_as_many_files_as_the_machine_allows() -> None:
    asked = (
        "import resource as r; from patchwright.workers.web.server import *;"
        "n = r.RLIMIT_NOFILE; h = r.getrlimit(n)[1]; r.setrlimit(n, (256, h));"
        "print(raise_file_limit(), r.getrlimit(n)[0])"
    )
    run = subprocess.run(  # the limits of this process stay as they are
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    )
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = 8192 if hard == resource.RLIM_INFINITY else min(hard, 8192)
    assert run.stdout.split() == [str(most), str(most)]


@pytest.mark.parametrize(
    ("sent", "asks"),
    [
        (b"", False),
        (b"POST / HTTP/1.1\r\nHost: x\r\n", False),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx", True),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", True),
    ],
    ids=["nothing", "half a head", "half a body", "no second request"],
)
def test_h12_a_sender_who_does_not_go_on_is_cut_off(
    tmp_path: Path, sent: bytes, *, asks: bool
) -> None:
    later = [0.0]
    with closing(Database(f"sqlite:///{tmp_path}/web.db")) as database:
        upgrade(database)
        with serving(database, monotonic=lambda: later[0]) as site:
            url = httpx.URL(site.url)
            with socket.create_connection((url.host, url.port or 80), 10) as way:
                way.sendall(sent)
                if asks:
                    assert way.recv(10_000).startswith(b"HTTP/1.1 ")
                wait_until(lambda: _is_over(way, later), "the end", 8)


def _is_over(way: socket.socket, later: list[float]) -> bool:
    """Let time go by, and tell whether the other side has hung up."""
    later[0] += WAIT_S + 1
    way.settimeout(0.3)
    try:
        return way.recv(10_000) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with closing(Database(f"sqlite:///{tmp_path}/web.db")) as database:
        upgrade(database)
        with serving(database) as site:
            yield site


def test_h12_a_delivery_passes_more_idle_connections_than_there_may_be(
    site: Site,
) -> None:
    url = httpx.URL(site.door())
    head = f"POST {url.path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
    with ExitStack() as open_:
        for _ in range(MOST_CONNECTIONS // 2 + 50):
            way = open_.enter_context(
                socket.create_connection((url.host, url.port or 80), 10)
            )
            way.sendall(head.encode())
        answer = httpx.post(site.door(), content=REQUEST, headers=signed(REQUEST))
        assert answer.status_code == 202
        alive = httpx.get(f"{site.url}/healthz")
    assert alive.status_code == 200
