"""An open network is the public one: not this machine, and not its neighbours."""

import secrets
import socket
from collections.abc import Iterator
from ipaddress import ip_network

import docker
import pytest

from patchwright.core.runtime import Runtime, RuntimeFactory
from patchwright.core.types.base import RandomIds
from patchwright.sandbox.host.gateway import own_addresses
from tests.adapters.sandbox.box import Box
from tests.adapters.sandbox.conftest import SPEC
from tests.adapters.sandbox.outside import FETCH, Outside, fetch

CONNECT = """
import socket, sys
way = socket.socket({family})
way.settimeout(5)
try:
    way.connect({address!r})
    way.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
except OSError as error:
    print(error)
else:
    print(way.recv(100))
"""


@pytest.fixture(scope="module")
def opened(factory: RuntimeFactory) -> Iterator[Runtime]:
    runtime = factory.start(SPEC.replace(run_id=RandomIds().new(), network=True))
    yield runtime
    runtime.close()


@pytest.fixture
def inside(opened: Runtime) -> Box:
    return Box(opened)


def test_m4_services_at_private_addresses_are_refused_and_reported(
    inside: Box, outside: Outside
) -> None:
    refused = fetch(inside, outside.url())
    assert f"{outside.host}:{outside.port} leads to an address that is not" in refused
    assert (outside.host, outside.port) in {
        (one.host, one.port) for one in inside.runtime.blocked()
    }


@pytest.mark.parametrize("host", ["169.254.169.254", "0x7f.1", "[::1]", "172.17.0.1"])
def test_m4_metadata_and_this_machine_are_refused(inside: Box, host: str) -> None:
    assert "not public" in fetch(inside, f"http://{host}/latest/meta-data")


def test_m4_around_the_proxy_there_is_no_way(inside: Box, outside: Outside) -> None:
    around = f"env -u http_proxy -u HTTP_PROXY {FETCH} {outside.url()}"
    refused = ("Network is unreachable", "Connection refused")
    assert any(why in inside.sh(f"{around} 2>&1").output for why in refused)
    devices = inside.sh("cut -d: -s -f1 /proc/net/dev").output.split()
    assert [
        name for name in devices if not name.startswith(("lo", "sit", "tunl"))
    ] == []


def test_m4_abstract_sockets_of_this_machine_are_closed(inside: Box) -> None:
    name = f"\0patchwright-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX) as service:
        service.bind(name)
        service.listen()
        script = CONNECT.format(family="socket.AF_UNIX", address=name)
        assert "Connection refused" in inside.sh("python3 -", stdin=script).output


def test_m4_one_run_does_not_reach_the_other(
    inside: Box, factory: RuntimeFactory
) -> None:
    other = factory.start(SPEC.replace(run_id=RandomIds().new(), network=True))
    try:
        serve = "python3 -m http.server 8123 >/dev/null 2>&1 & "
        ready = "until : </dev/tcp/127.0.0.1/8123; do sleep 0.05; done 2>/dev/null"
        box = Box(other)
        assert box.sh(f"bash -c '{serve}{ready}'").exit_code == 0
        found = box.sh("cut -s -f1 /etc/hosts | grep -F . || :").output
        addresses = {"127.0.0.1", *found.split()}
        for address in addresses:
            script = CONNECT.format(family="socket.AF_INET", address=(address, 8123))
            said = inside.sh("python3 -", stdin=script).output
            assert "HTTP" not in said
            assert said.strip()
    finally:
        other.close()


def test_m4_the_addresses_of_this_machines_networks_are_known(
    client: docker.DockerClient,
) -> None:
    [bridge] = client.networks.get("bridge").attrs["IPAM"]["Config"]
    # Where it does not say so, an engine is at its network's first address.
    first = str(ip_network(bridge["Subnet"])[1])
    assert {"127.0.0.1", bridge.get("Gateway", first)} <= own_addresses()
