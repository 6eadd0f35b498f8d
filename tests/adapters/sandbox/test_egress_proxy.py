"""The proxy of a sandbox, spoken to as somebody would who wants around it."""

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.action_server.protocol import ActionError
from patchwright.sandbox.action_server.server import reach_out
from patchwright.sandbox.egress.gate import Gate, RefusalCounter, call, resolve
from patchwright.sandbox.egress.proxy import MAX_HEAD_BYTES, accept_connections
from patchwright.sandbox.egress.rules import Endpoint, HostRule
from patchwright.sandbox.egress.tls_hello import ALERT
from patchwright.sandbox.host.bootstrap import pack_proxy
from patchwright.sandbox.host.gateway import command_line
from tests.unit.sandbox.test_egress_hello import greeting

NAMES = {
    "listed.example": ["127.0.0.1"],
    "rebound.example": ["169.254.169.254", "10.0.0.1"],
    "half.example": ["10.0.0.1", "127.0.0.1"],
    "public.example": ["93.184.215.14"],
    "both.example": ["10.0.0.1", "93.184.215.14"],
    "machine.example": ["93.184.215.15"],
}
OWN = frozenset({"93.184.215.15"})


class Server:
    """Answers each connection with what it read from it, and hangs up."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        self.heard: list[bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self.socket.accept()
            except OSError:
                return
            with caller:
                self.heard.append(caller.recv(1 << 16))
                caller.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nserved")


@pytest.fixture
def server() -> Iterator[Server]:
    started = Server()
    yield started
    started.socket.shutdown(socket.SHUT_RDWR)
    started.socket.close()


class Proxy:
    """The proxy, and what it asked for the addresses of."""

    def __init__(self, *rules: HostRule, public_at: int = 0) -> None:
        """With `public_at` all is open, and answered at that port of this machine."""
        self.asked: list[str] = []
        self.called: list[str] = []
        self.tally = RefusalCounter()
        self.gate = Gate(rules, self.tally, self._resolve)
        if public_at:
            self._public_at = public_at
            gate = self.gate._replace(opens_public=True, own=OWN)
            self.gate = gate._replace(call=self._call)

    def _call(self, address: str, port: int) -> socket.socket:
        self.called.append(f"{address}:{port}")
        return call("127.0.0.1", self._public_at)

    def _resolve(self, target: Endpoint) -> Sequence[str]:
        self.asked.append(target.host)
        if target.host in NAMES:
            return NAMES[target.host]
        if not target.host.endswith(".example"):
            # Numbers in all their spellings, which need no network.
            return resolve(target)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    @contextmanager
    def open(self, gate: Gate | None = None) -> Iterator[Callable[[bytes], bytes]]:
        """Yield what sends bytes through the proxy, and returns all that comes back."""
        door = socket.create_server(("127.0.0.1", 0))

        def serve() -> None:
            with pytest.raises(OSError, match=r"Invalid argument|Bad file"):
                accept_connections(door, gate or self.gate)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield lambda data: _speak(door.getsockname()[1], data)
        finally:
            door.shutdown(socket.SHUT_RDWR)
            thread.join()
            door.close()


def _speak(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), 10) as way:
        way.sendall(data)
        return way.makefile("rb").read()


def listed(port: int, host: str = "listed.example") -> tuple[HostRule, ...]:
    """Return rules for a host, and for the address that it has in these tests."""
    return (HostRule(host, port, False), HostRule("127.0.0.1", port, False))


def test_a_listed_name_is_served_at_the_address_that_was_judged(server: Server) -> None:
    proxy = Proxy(*listed(server.port))
    url = f"http://LISTED.example.:{server.port}/x".encode()
    with proxy.open() as send:
        answer = send(b"GET " + url + b" HTTP/1.1\r\nHost: evil.example\r\n\r\n")
    assert answer.endswith(b"served")
    assert proxy.asked == ["listed.example"]
    assert b"Host: listed.example:" in server.heard[0]
    assert b"evil" not in server.heard[0]


def test_a_second_request_on_the_same_connection_goes_nowhere(server: Server) -> None:
    proxy = Proxy(*listed(server.port))
    one = f"GET http://listed.example:{server.port}/x HTTP/1.1\r\n\r\n".encode()
    two = f"GET http://listed.example:{server.port}/y HTTP/1.1\r\n".encode()
    with proxy.open() as send:
        answer = send(one + two + b"Host: hidden.example\r\n\r\n")
    assert answer.count(b"served") == 1
    assert b"hidden" not in server.heard[0]
    assert b"/y" not in server.heard[0]


def test_a_body_is_passed_on_to_its_length(server: Server) -> None:
    proxy = Proxy(*listed(server.port))
    head = f"POST http://listed.example:{server.port}/ HTTP/1.1\r\n".encode()
    with proxy.open() as send:
        send(head + b"Content-Length: 4\r\n\r\nbodyrest")
    assert server.heard[0].endswith(b"\r\n\r\nbody")


def test_a_name_that_is_not_listed_is_not_even_looked_up() -> None:
    proxy = Proxy(*listed(443))
    with proxy.open() as send:
        answer = send(b"CONNECT secret-1234.evil.example:443 HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403 Blocked by the sandbox: secret-1234.evil")
    assert proxy.asked == []
    [refused] = proxy.tally.counted()
    assert (refused["host"], refused["port"]) == ("secret-1234.evil.example", 443)


@pytest.mark.parametrize("port", [22, 25, 8080])
def test_a_listed_name_has_the_ports_of_the_web_alone(port: int) -> None:
    proxy = Proxy(HostRule("listed.example", None, False))
    with proxy.open() as send:
        answer = send(f"CONNECT listed.example:{port} HTTP/1.1\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 403 ")


def test_a_listed_name_that_leads_inside_is_refused_and_counted() -> None:
    proxy = Proxy(HostRule("rebound.example", None, False))
    with proxy.open() as send:
        answer = send(b"CONNECT rebound.example:443 HTTP/1.1\r\n\r\n")
    assert b"not public" in answer.splitlines()[0]
    assert [one["count"] for one in proxy.tally.counted()] == [1]


def test_of_several_addresses_only_the_good_ones_are_tried(server: Server) -> None:
    proxy = Proxy(*listed(server.port, "half.example"))
    with proxy.open() as send:
        head = f"CONNECT half.example:{server.port} HTTP/1.1\r\n\r\n".encode()
        answer = send(head + b"hello")
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\n")
    assert server.heard == [b"hello"]


@pytest.mark.parametrize("name", ["public.example", "both.example", "93.184.215.14"])
@pytest.mark.parametrize("port", [443, 8443])
def test_m4_an_open_network_reaches_what_is_public_at_the_address_that_was_judged(
    server: Server, name: str, port: int
) -> None:
    proxy = Proxy(public_at=server.port)
    with proxy.open() as send:
        answer = send(f"CONNECT {name}:{port} HTTP/1.1\r\n\r\nhello".encode())
    assert answer.endswith(b"served")
    assert proxy.called == [f"93.184.215.14:{port}"]
    assert proxy.asked == [name]


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "[::1]"),
        *("localhost", "10.0.0.1", "172.17.0.1", "192.168.1.1", "100.64.0.1"),
        *("169.254.169.254", "0xa9fea9fe", "168.63.129.16", "[fd00:ec2::254]"),
        *("[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]"),
        *("[2002:7f00:1::]", "[fe80::1]", "224.0.0.1", "[ff02::1]", "0.0.0.0"),
        *("rebound.example", "machine.example", "93.184.215.15"),
    ],
)
def test_m4_an_open_network_is_not_this_machine_its_neighbours_or_a_clouds_metadata(
    server: Server, host: str
) -> None:
    proxy = Proxy(public_at=server.port)
    with proxy.open() as send:
        tunnel = send(f"CONNECT {host}:443 HTTP/1.1\r\n\r\n".encode())
        plain = send(f"GET http://{host}/ HTTP/1.1\r\n\r\n".encode())
    for answer in (tunnel, plain):
        assert answer.startswith(b"HTTP/1.1 403 Blocked by the sandbox: ")
        assert b"not public" in answer
    assert (proxy.called, server.heard) == ([], [])


def test_a_tunnel_to_a_listed_host_is_for_no_other_host_behind_its_address(
    server: Server,
) -> None:
    proxy = Proxy(*listed(server.port))
    head = f"CONNECT listed.example:{server.port} HTTP/1.1\r\n\r\n".encode()
    with proxy.open() as send:
        fronted = send(head + greeting("hidden.example"))
        nameless = send(head + greeting(None))
        true = send(head + greeting("listed.example"))
    assert server.heard[:-1] in ([], [b""], [b"", b""])
    assert b"listed.example" in server.heard[-1]
    assert fronted.endswith(ALERT)
    assert nameless.endswith(ALERT)
    assert true.endswith(b"served")
    [refused] = proxy.tally.counted()
    assert (refused["host"], refused["count"]) == ("listed.example", 2)
    assert "names another host in TLS: hidden.example" in str(refused["why"])


def test_at_the_port_of_https_a_tunnel_carries_nothing_but_tls() -> None:
    proxy = Proxy(
        HostRule("listed.example", None, False), HostRule("127.0.0.1", None, False)
    )
    given, taken = socket.socketpair()
    with given, taken:
        gate = proxy.gate._replace(call=lambda _address, _port: taken)
        with proxy.open(gate) as send:
            answer = send(b"CONNECT listed.example:443 HTTP/1.1\r\n\r\nGET / HTTP/1.1")
        assert given.recv(100) == b""
    assert answer.endswith(ALERT)
    [refused] = proxy.tally.counted()
    assert "does not speak TLS" in str(refused["why"])


def test_what_cannot_be_reached_is_no_blocked_request() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    proxy = Proxy(*listed(free), HostRule("gone.example", None, False))
    with proxy.open() as send:
        gone = send(b"CONNECT gone.example:443 HTTP/1.1\r\n\r\n")
        closed = send(f"CONNECT listed.example:{free} HTTP/1.1\r\n\r\n".encode())
    assert gone.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert b"Name or service not known" in gone
    assert b"Connection refused" in closed
    assert proxy.tally.counted() == []


def test_a_head_without_an_end_is_not_read_for_ever() -> None:
    with Proxy().open() as send:
        answer = send(b"GET http://a.example/ HTTP/1.1\r\nX: " + b"x" * MAX_HEAD_BYTES)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"too long" in answer


@contextmanager
def started(folder: Path, lifetime_s: float) -> Iterator[subprocess.Popen[bytes]]:
    """Run a proxy as a process that waits for its sandbox."""
    archive = folder / "proxy.pyz"
    archive.write_bytes(pack_proxy())
    spec = SandboxSpec(run_id="r", lifetime_s=lifetime_s)
    meeting = str(folder / "meeting.sock")
    with subprocess.Popen(
        command_line(sys.executable, str(archive), meeting, spec),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        yield process
        process.kill()


def test_a_proxy_ends_itself_at_the_end_of_its_life(tmp_path: Path) -> None:
    with started(tmp_path, lifetime_s=0.1) as process:
        assert process.wait(20) == 0


def test_a_proxy_ends_with_the_one_who_asks_it(tmp_path: Path) -> None:
    with started(tmp_path, lifetime_s=600) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'half\n{"no": "id"}\n[]\n{"id": "1"}\n')
        process.stdin.flush()
        assert process.stdout.readline().startswith(b'{"id": "1", "result": ')
        process.stdin.close()
        assert process.wait(20) == 0


def test_a_door_that_nobody_takes_is_told_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(ActionError, match="such as gVisor does not let through"):
        reach_out(str(tmp_path / "nobody.sock"), 0)


def test_a_proxy_that_gets_no_socket_takes_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "meeting.sock")
    with socket.socket(socket.AF_UNIX) as meeting:
        meeting.bind(path)
        meeting.listen()

        def hang_up_on_it() -> None:
            meeting.accept()[0].close()

        hang_up = threading.Thread(target=hang_up_on_it)
        hang_up.start()
        with pytest.raises(ActionError) as refused:
            reach_out(path, 0)
        hang_up.join()
    assert refused.value.reason == "no-proxy"
