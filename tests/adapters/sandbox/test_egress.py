"""A sandbox reaches the hosts that are listed, and nothing else on the network."""

from collections.abc import Iterator

import pytest

from patchwright.core.events.actions import Browse
from patchwright.core.events.observations import BrowserOutput
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.security.hosts import Domain
from patchwright.core.types.base import RandomIds
from tests.adapters.sandbox.box import Box
from tests.adapters.sandbox.conftest import SPEC
from tests.adapters.sandbox.outside import FETCH, Outside, fetch


@pytest.fixture(scope="session")
def listing(factory: RuntimeFactory, outside: Outside) -> Iterator[Runtime]:
    """Run a sandbox that may reach the server outside, and a cloud's metadata.

    Reading a list refuses the latter; here it has got through.
    """
    spec = outside.opened_in(SPEC.replace(run_id=RandomIds().new()))
    domains = (*spec.domains, Domain(host="169.254.0.7"))
    runtime = factory.start(spec.replace(domains=domains))
    yield runtime
    runtime.close()


@pytest.fixture
def inside(listing: Runtime) -> Box:
    return Box(listing)


def test_a_listed_host_is_reached(inside: Box, outside: Outside) -> None:
    assert fetch(inside, outside.url()) == "b'hello from outside\\n'\n"


def test_git_reaches_a_listed_host(inside: Box, outside: Outside) -> None:
    inside.sh("cd $WORKSPACE")
    cloned = inside.sh(f"git clone --quiet {outside.url('/code.git')} cloned")
    assert (cloned.exit_code, cloned.output) == (0, "")
    assert inside.sh("git -C cloned log --format=%s").output == "first\n"


def test_a_tunnel_carries_bytes_both_ways(inside: Box, outside: Outside) -> None:
    script = f"""
import http.client
way = http.client.HTTPConnection("127.0.0.1", 3128)
way.set_tunnel("{outside.host}", {outside.port})
way.request("GET", "/hello.txt")
print(way.getresponse().read())
"""
    ran = inside.sh("python3 -", stdin=script)
    assert ran.output == "b'hello from outside\\n'\n"


def test_a_page_of_a_listed_host_can_be_browsed(inside: Box, outside: Outside) -> None:
    page = inside.do(Browse(url=outside.url()))
    assert isinstance(page, BrowserOutput), page
    assert page.text.strip() == "hello from outside"
    refused = inside.refusal(Browse(url="https://elsewhere.example/"))
    assert "elsewhere.example:443 is not in sandbox.allow_domains" in refused.text
    assert "no network" not in refused.text


def test_what_is_not_listed_is_refused_with_the_reason(inside: Box) -> None:
    refused = fetch(inside, "https://elsewhere.example/x")
    assert "elsewhere.example:443 is not in sandbox.allow_domains" in refused
    assert inside.sh("git ls-remote http://code.example/x").exit_code == 128
    assert "403" in inside.sh("git ls-remote http://code.example/x").output


@pytest.mark.parametrize("address", ["169.254.169.254", "169.254.0.7", "127.0.0.1"])
def test_addresses_that_give_out_credentials_or_are_the_proxys_own_are_refused(
    inside: Box, address: str
) -> None:
    script = f"""
import socket
way = socket.create_connection(("127.0.0.1", 3128))
way.sendall(b"GET http://{address}/latest/meta-data HTTP/1.1\\r\\n\\r\\n")
print(way.makefile("rb").readline().decode())
"""
    assert "403 Blocked by the sandbox" in inside.sh("python3 -", stdin=script).output


def test_without_the_proxy_there_is_no_way(inside: Box, outside: Outside) -> None:
    around = f"env -u http_proxy -u HTTP_PROXY {FETCH} {outside.url()}"
    # The server on this machine has an address that the sandbox takes for its own.
    refused = ("Network is unreachable", "Connection refused")
    assert any(why in inside.sh(f"{around} 2>&1").output for why in refused)
    routes = inside.sh("cat /proc/net/route | tail -n +2; ls /sys/class/net").output
    assert "eth" not in routes


def test_no_name_is_looked_up_in_the_sandbox(inside: Box) -> None:
    assert inside.sh("getent hosts elsewhere.example").exit_code == 2
    ask = 'import socket; socket.socket(2, 2).sendto(b"x", ("127.0.0.11", 53))'
    listener = inside.sh(f"python3 -c '{ask}' && cat /proc/net/udp | tail -n +2")
    assert listener.output == ""
    far = ask.replace("127.0.0.11", "9.9.9.9")
    assert "Network is unreachable" in inside.sh(f"python3 -c '{far}'").output


def test_the_door_can_be_neither_closed_nor_taken(
    inside: Box, outside: Outside
) -> None:
    taken = inside.sh("python3 -m http.server 3128 --bind 127.0.0.1")
    assert "Address already in use" in taken.output
    inside.sh("kill -9 -1")
    assert fetch(inside, outside.url()) == "b'hello from outside\\n'\n"


def test_nobody_waits_where_the_proxy_was_met(inside: Box) -> None:
    assert inside.sh("ls /egress").output == "proxy.pyz\n"
    assert inside.sh("touch /egress/x; echo x > /egress/proxy.pyz").exit_code != 0
    assert inside.sh("cat /egress/proxy.pyz | wc -c").output != "0\n"


def test_what_was_refused_is_reported_with_its_count(
    factory: RuntimeFactory, spec: SandboxSpec, outside: Outside
) -> None:
    evidence = outside.opened_in(spec).replace(role="evidence")
    runtime = factory.start(evidence)
    try:
        box = Box(runtime)
        assert runtime.blocked() == ()
        fetch(box, outside.url())
        fetch(box, "http://once.example/")
        fetch(box, "https://twice.example/")
        fetch(box, "https://twice.example/again")
        once, twice = runtime.blocked()
    finally:
        runtime.close()
    assert (once.host, once.port, once.count) == ("once.example", 80, 1)
    assert (twice.host, twice.port, twice.count) == ("twice.example", 443, 2)
    assert (once.role, twice.why[:17]) == ("evidence", "twice.example:443")
    assert once.first_at < twice.first_at
    assert runtime.blocked() == ()


def test_a_sandbox_without_a_list_has_no_proxy_and_reports_nothing(box: Box) -> None:
    assert box.sh("env | grep -i proxy; ls /egress").exit_code == 2
    assert box.runtime.blocked() == ()
