"""From a signed webhook at the proxy to a pull request, whatever dies on the way."""

import pytest

from tests.deploy.docker_cli import docker
from tests.deploy.scene import Scene
from tests.deploy.stack import Stack

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(600)]

OURS = ("web", "worker", "beat")
EVERY = (*OURS, "proxy", "postgres", "redis")


def test_a_signed_webhook_through_the_proxy_becomes_a_pull_request(
    stack: Stack, world: Scene
) -> None:
    number = world.open_issue("Wrong sum")
    assert stack.deliver(world.github.deliveries[-1]) == 202
    stack.wait(lambda: world.has_ended(number), "the end")
    [pull] = world.pull_requests(number)
    assert not pull.draft


def test_one_of_three_workers_is_killed_and_nothing_is_lost_or_done_twice(
    stack: Stack, world: Scene
) -> None:
    stack.up("--no-recreate", "--scale", "worker=3")
    world.model.hold_up()
    numbers = []
    for title in ("one", "two", "three", "four"):
        numbers.append(world.open_issue(f"Wrong sum, {title}"))
        assert stack.deliver(world.github.deliveries[-1]) == 202
    stack.wait(lambda: len(_holders(stack)) == len(numbers), "runs in their middle")
    docker("kill", _holders(stack)[0])
    world.model.go_on()
    for number in numbers:
        stack.wait(lambda n=number: world.has_ended(n), f"the end of #{number}")
        assert len(world.pull_requests(number)) == 1
        assert len(world.replies(number)) == 1


def test_what_is_for_the_operator_alone_is_not_shown_to_the_world(stack: Stack) -> None:
    with stack.client() as client:
        assert client.get("/readyz").is_success
        for path in ("/metrics", "/metrics/", "/metrics?name=x", "/%6detrics"):
            assert client.get(path).status_code == 404, path


def test_a_forged_webhook_gets_nowhere(stack: Stack, world: Scene) -> None:
    world.open_issue("Wrong sum, forged")
    delivery = world.github.deliveries[-1]
    with stack.client() as client:
        headers = {**delivery.headers, "X-Hub-Signature-256": f"sha256={'0' * 64}"}
        path = "/api/integration/github/events"
        answer = client.post(path, content=delivery.body, headers=headers)
    assert answer.status_code == 401


def test_no_container_runs_as_root_or_may_become_it(stack: Stack) -> None:
    for service in EVERY:
        for container in stack.inspect(service):
            identity = docker("exec", container["Id"], "id", "-u")
            assert identity != "0", service
            host = container["HostConfig"]
            assert host["ReadonlyRootfs"], service
            assert not host["Privileged"], service
            assert "no-new-privileges:true" in host["SecurityOpt"], service
            assert host["PidsLimit"], service
            assert host["Memory"], service


def test_no_secret_stands_where_docker_inspect_shows_it(
    stack: Stack, world: Scene
) -> None:
    files = (stack.folder / "secrets").iterdir()
    given = {file.name: file.read_text().strip() for file in files}
    secrets = [secret for secret in given.values() if secret]
    assert len(secrets) >= len(world.secrets) + 4
    shown = "".join(
        docker("inspect", *stack.containers(service)) for service in EVERY
    ).replace("\\n", "\n")
    assert [secret for secret in secrets if secret in shown] == []


def test_only_workers_have_the_socket_and_database_and_broker_no_way_out(
    stack: Stack,
) -> None:
    with_socket = {
        service
        for service in EVERY
        for container in stack.inspect(service)
        if any("docker.sock" in mount["Destination"] for mount in container["Mounts"])
    }
    assert with_socket == {"worker"}
    for service in ("postgres", "redis"):
        for container in stack.inspect(service):
            [name] = container["NetworkSettings"]["Networks"]
            assert docker("network", "inspect", "-f", "{{.Internal}}", name) == "true"
            assert not container["HostConfig"]["PortBindings"]


def _holders(stack: Stack) -> list[str]:
    """Return the containers that have runs, by their names for themselves."""
    running = "SELECT worker FROM jobs WHERE state = 'running'"
    return [worker.partition(":")[0] for worker in stack.query(running)]
