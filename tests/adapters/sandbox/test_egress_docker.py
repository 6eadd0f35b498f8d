"""The container of a proxy comes, stays and goes with that of its sandbox."""

from datetime import timedelta
from typing import Any

import docker
import pytest

from patchwright.core.runtime import SandboxSpec
from patchwright.core.security.hosts import read_domain
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import SandboxError
from patchwright.sandbox.docker.runtimes import DockerRuntimes
from tests.adapters.sandbox.box import Box
from tests.adapters.sandbox.containers import find
from tests.fakes.clock import FakeClock

DAY_S = 86_400.0
ASK = "python3 -c 'import urllib.request as u; u.urlopen(\"http://no.example/\")' 2>&1"


@pytest.fixture
def listing(spec: SandboxSpec) -> SandboxSpec:
    return spec.replace(domains=(read_domain("a.example"),))


def facts_of(client: docker.DockerClient, run_id: str, role: str) -> dict[str, Any]:
    found = [client.api.inspect_container(name) for name in find(client, run_id)]
    [facts] = [
        one for one in found if one["Config"]["Labels"]["patchwright.role"] == role
    ]
    return dict(facts)


def volumes_of(client: docker.DockerClient, run_id: str) -> set[str]:
    found = [client.api.inspect_container(name) for name in find(client, run_id)]
    return {mount["Name"] for one in found for mount in one["Mounts"]}


def remaining(client: docker.DockerClient, volumes: set[str]) -> set[str]:
    return volumes & {str(one.name) for one in client.volumes.list()}


def test_nothing_is_left_of_either(
    listing: SandboxSpec, docker_runtimes: DockerRuntimes, client: docker.DockerClient
) -> None:
    runtime = docker_runtimes.start(listing)
    volumes = volumes_of(client, listing.run_id)
    assert len(volumes) == 2
    runtime.close()
    runtime.close()
    assert find(client, listing.run_id) == []
    assert remaining(client, volumes) == set()


def test_the_proxy_is_confined_and_the_sandbox_has_no_network(
    listing: SandboxSpec, docker_runtimes: DockerRuntimes, client: docker.DockerClient
) -> None:
    runtime = docker_runtimes.start(listing)
    proxy = facts_of(client, listing.run_id, "proxy")
    sandbox = facts_of(client, listing.run_id, "work")
    runtime.close()
    host = proxy["HostConfig"]
    assert (proxy["Config"]["User"], host["CapDrop"]) == ("1000:1000", ["ALL"])
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert (host["ReadonlyRootfs"], host["Privileged"]) == (True, False)
    assert (host["Memory"], host["PidsLimit"]) == (256 << 20, 256)
    assert (host["NetworkMode"], host["PortBindings"]) == ("bridge", None)
    assert [mount["Destination"] for mount in proxy["Mounts"]] == ["/egress"]
    assert sandbox["HostConfig"]["NetworkMode"] == "none"
    shared = {mount["Destination"]: mount["RW"] for mount in sandbox["Mounts"]}
    assert shared == {"/egress": False, "/workspace": True}


def test_an_image_that_a_repository_chose_does_not_run_the_proxy(
    listing: SandboxSpec,
    sandbox_image: str,
    empty_image: str,
    docker_runtimes: DockerRuntimes,
    client: docker.DockerClient,
) -> None:
    own = listing.replace(image=empty_image)
    with pytest.raises(SandboxError, match="has no python3; choose one with"):
        docker_runtimes.start(own)
    assert find(client, listing.run_id) == []
    client.images.get(sandbox_image).tag("patchwright-own", "test")
    runtime = docker_runtimes.start(listing.replace(image="patchwright-own:test"))
    proxy = facts_of(client, listing.run_id, "proxy")
    sandbox = facts_of(client, listing.run_id, "work")
    runtime.close()
    client.images.remove("patchwright-own:test")
    images = (sandbox["Config"]["Image"], proxy["Config"]["Image"])
    assert images == ("patchwright-own:test", sandbox_image)


def test_the_next_worker_finds_the_way_open_and_the_count(
    listing: SandboxSpec, docker_runtimes: DockerRuntimes, client: docker.DockerClient
) -> None:
    first = docker_runtimes.start(listing)
    Box(first).sh(ASK)
    first.detach()
    second = docker_runtimes.attach(listing)
    assert second is not None
    Box(second).sh(ASK)
    [blocked] = second.blocked()
    assert (blocked.host, blocked.port, blocked.count) == ("no.example", 80, 2)
    second.close()
    assert find(client, listing.run_id) == []


def test_a_sandbox_whose_proxy_is_gone_is_not_taken_over(
    listing: SandboxSpec, docker_runtimes: DockerRuntimes, client: docker.DockerClient
) -> None:
    runtime = docker_runtimes.start(listing)
    proxy = facts_of(client, listing.run_id, "proxy")
    client.api.remove_container(proxy["Id"], force=True)
    assert "Connection refused" in Box(runtime).sh(ASK).output
    assert runtime.blocked() == ()
    runtime.detach()
    assert docker_runtimes.attach(listing) is None
    assert find(client, listing.run_id) == []


def test_with_a_sandbox_that_does_not_answer_its_proxy_goes(
    listing: SandboxSpec, docker_runtimes: DockerRuntimes, client: docker.DockerClient
) -> None:
    runtime = docker_runtimes.start(listing)
    client.api.pause(facts_of(client, listing.run_id, "work")["Id"])
    runtime.detach()
    assert docker_runtimes.attach(listing) is None
    assert find(client, listing.run_id) == []


def test_removing_a_run_counts_sandboxes_alone(
    listing: SandboxSpec, docker_runtimes: DockerRuntimes, client: docker.DockerClient
) -> None:
    runtime = docker_runtimes.start(listing)
    volumes = volumes_of(client, listing.run_id)
    runtime.detach()
    assert docker_runtimes.remove(listing.run_id) == 1
    assert find(client, listing.run_id) == []
    assert remaining(client, volumes) == set()


def test_a_proxy_past_its_time_is_reaped(
    listing: SandboxSpec,
    docker_runtimes: DockerRuntimes,
    client: docker.DockerClient,
    sandbox_image: str,
) -> None:
    long_ago = FakeClock(SystemClock().now() - timedelta(days=2))
    lasting = listing.replace(lifetime_s=DAY_S)
    old = DockerRuntimes(client, long_ago, sandbox_image).start(lasting)
    old.detach()
    docker_runtimes.reap()
    assert find(client, listing.run_id) == []
