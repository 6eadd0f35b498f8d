"""The stack of deploy/compose.yaml, as an installation in a folder of its own."""

import json
import shutil
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from patchwright.core.types.base import RandomIds
from tests.architecture.tree import ROOT
from tests.deploy.docker_cli import docker, run
from tests.deploy.images import Images
from tests.fakes.github.state import Delivery
from tests.fakes.tls import Authority, make_authority
from tests.provision.errors import ProvisionError
from tests.provision.servers import free_port
from tests.provision.waiting import wait_until

WEBHOOKS = "/api/integration/github/events"
# Where a worker is killed, so that its lease does not run for half a minute more.
QUICK = {
    "PATCHWRIGHT_QUEUE__LEASE_SECONDS": "6",
    "PATCHWRIGHT_QUEUE__SWEEP_SECONDS": "1",
    "PATCHWRIGHT_LIMITS__MAX_PARALLEL": "2",
}


@dataclass(frozen=True)
class Stack:
    """An installation; `folder` is its deploy/, `url` where its proxy is."""

    folder: Path
    project: str
    url: str
    authority: Authority

    def run(self, script: str, *arguments: str) -> str:
        """Run one of the scripts of deploy/."""
        return run([str(self.folder / script), *arguments])

    def containers(self, service: str) -> list[str]:
        """Return those that run."""
        label = "label=com.docker.compose"
        ours = [f"{label}.project={self.project}", f"{label}.service={service}"]
        filters = [part for one in ours for part in ("--filter", one)]
        return docker("ps", "--quiet", "--no-trunc", *filters).split()

    def inspect(self, service: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(
            docker("inspect", *self.containers(service))
        )
        return found

    def query(self, statement: str) -> list[str]:
        """Ask the database; return a line for each row."""
        program = ["psql", "--username", "patchwright", "--tuples-only", "--no-align"]
        asked = ["exec", "-T", "postgres", *program, "--command", statement]
        return self.run("compose", *asked).splitlines()

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        """Speak to the proxy, trusting its authority alone."""
        trust = ssl.create_default_context(cafile=str(self.authority.bundle))
        with httpx.Client(verify=trust, base_url=self.url, timeout=30) as client:
            yield client

    def deliver(self, delivery: Delivery) -> int:
        """Bring a webhook to the proxy on a new connection; return the status."""
        with self.client() as client:
            return post(client, delivery)

    def wait(self, is_true: Any, what: str, timeout_s: float = 60) -> None:
        """Wait with a bound; what the containers said goes into the failure."""
        try:
            wait_until(is_true, what, timeout_s)
        except ProvisionError as error:
            said = self.run("compose", "logs", "--no-color", "--tail", "15")
            raise ProvisionError(f"{error}\n{said}") from None

    def up(self, *options: str) -> None:
        try:
            self.run("compose", "up", "-d", *options)
        except ProvisionError as error:
            said = self.run("compose", "logs", "--no-color", "--tail", "15")
            raise ProvisionError(f"{error}\n{said}") from None
        self.wait(self.is_ready, "the stack")

    def is_ready(self) -> bool:
        with self.client() as client:
            try:
                return client.get("/readyz").is_success
            except httpx.TransportError:
                return False


def post(client: httpx.Client, delivery: Delivery) -> int:
    headers = dict(delivery.headers)
    return client.post(WEBHOOKS, content=delivery.body, headers=headers).status_code


@contextmanager
def installed(
    folder: Path,
    images: Images,
    settings: Mapping[str, str],
    secrets: Mapping[str, str],
) -> Iterator[Stack]:
    """Install the stack; nothing of it is left afterwards, whatever became of it."""
    deploy = folder / "deploy"
    shutil.copytree(
        ROOT / "deploy",
        deploy,
        ignore=shutil.ignore_patterns("wheels*", ".env", "secrets"),
    )
    authority = make_authority(folder, "stack")
    url = f"https://127.0.0.1:{free_port()}"
    project = f"patchwright-test-{RandomIds().new()[:8]}"
    stack = Stack(deploy, project, url, authority)
    stack.run("prepare")
    _configure(stack, images, settings)
    _give(deploy / "secrets", secrets)
    _give(
        deploy / "secrets",
        {
            "tls_certificate": authority.certificate.read_text(),
            "tls_key": authority.key.read_text(),
        },
    )
    try:
        yield stack
    finally:
        stack.run("compose", "down", "--volumes", "--timeout", "5", "--remove-orphans")
        _remove_sandboxes(images)


def _remove_sandboxes(images: Images) -> None:
    """Remove those of runs that a failed test left in their middle."""
    left = docker("ps", "--quiet", "--filter", f"ancestor={images.sandbox}").split()
    if left:
        docker("rm", "--force", "--volumes", *left)


def configure(stack: Stack, **values: str) -> None:
    """Change what deploy/.env says."""
    file = stack.folder / ".env"
    lines = file.read_text().splitlines()
    kept = [line for line in lines if line.partition("=")[0] not in values]
    added = [f"{name}={value}" for name, value in values.items()]
    file.write_text("\n".join([*kept, *added, ""]))


def _configure(stack: Stack, images: Images, settings: Mapping[str, str]) -> None:
    configure(
        stack,
        **{
            "COMPOSE_FILE": "compose.yaml:certificates.yaml",
            "COMPOSE_PROJECT_NAME": stack.project,
            "PUBLIC_HOST": "127.0.0.1",
            "PATCHWRIGHT_SERVER__PUBLIC_URL": stack.url,
            # Debian's Caddy is older than the one that compose.yaml asks for.
            "REQUEST_BUFFERING": "buffer_requests",
            "HTTP_PORT": str(free_port()),
            "HTTPS_PORT": stack.url.rpartition(":")[2],
            "SERVICE_IMAGE": images.service,
            "SANDBOX_IMAGE": images.sandbox,
            "PROXY_IMAGE": images.proxy,
            "POSTGRES_IMAGE": images.services,
            "REDIS_IMAGE": images.services,
            **QUICK,
            **settings,
        },
    )


def _give(folder: Path, secrets: Mapping[str, str]) -> None:
    for name, text in secrets.items():
        file = folder / name
        file.unlink(missing_ok=True)
        file.write_text(text)
        file.chmod(0o444)
