"""The machine on which somebody runs the stack, with this machine's own engine."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from patchwright.core.types.base import RandomIds
from tests.deploy.docker_cli import docker
from tests.deploy.images import PREFIX, PYTHON, Images, ensure_images, ensure_machine
from tests.provision.servers import free_port
from tests.tutorials.front import secure
from tests.tutorials.machine import Machine, machine
from tests.tutorials.world import SERVICE, World

SOCKET = Path("/var/run/docker.sock")
OWN = f"{PREFIX}tutorial-"
# Where Debian has the authorities that all programs trust.
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
TRUSTING = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


@contextmanager
def company(folder: Path, outside: World) -> Iterator[Machine]:
    """Start it, in a folder that the engine has at the same place."""
    images, project = ensure_images(), f"tutorial-{RandomIds().new()[:8]}"
    tls_port = free_port()
    own = folder / "company"
    own.mkdir()
    override = folder / "compose.yaml"
    override.write_text(json.dumps(_known_to_containers(outside)))
    variables = {
        "HOME": str(own),
        "COMPOSE_PROJECT_NAME": project,
        "HTTP_PORT": str(free_port()),
        "HTTPS_PORT": str(tls_port),
        **_images(images),
    }
    options = [
        *("--user", f"{os.getuid()}:{os.getgid()}"),
        *("--group-add", str(SOCKET.stat().st_gid)),
        *("--volume", f"{SOCKET}:{SOCKET}", "--volume", f"{own}:{own}"),
        *("--volume", f"{override}:/world/compose.yaml:ro", "--workdir", str(own)),
        *(part for one in variables.items() for part in ("--env", "=".join(one))),
    ]
    at = ("127.0.0.1", tls_port)
    outside.places[SERVICE] = secure(at, SERVICE, outside.authority)
    with machine(outside.network, outside.hosts, outside.bundle, options) as ready:
        try:
            yield ready
        finally:
            _remove(project)


def _images(images: Images) -> dict[str, str]:
    """Return by which names this engine has what others fetch, and what is built."""
    return {
        "BASE": ensure_machine(PYTHON),
        "PROXY_BASE": images.services,
        "REGISTRY": OWN,
        "SERVICE_IMAGE": f"{OWN}patchwright:latest",
        "SANDBOX_IMAGE": f"{OWN}patchwright-sandbox:latest",
        "PROXY_IMAGE": f"{OWN}patchwright-proxy:latest",
        "POSTGRES_IMAGE": images.services,
        "REDIS_IMAGE": images.services,
        # Debian's Caddy is older than the one that compose.yaml asks for.
        "REQUEST_BUFFERING": "buffer_requests",
    }


def _known_to_containers(outside: World) -> dict[str, object]:
    """Return names and trust for the stack, and the certificate that it would get."""
    hosts = [f"{name}:{address}" for name, address in outside.hosts.items()]
    trusting = {
        "extra_hosts": hosts,
        "environment": dict.fromkeys(TRUSTING, BUNDLE),
        "volumes": [f"{outside.authority.bundle}:{BUNDLE}:ro"],
    }
    pair = {
        "tls_certificate": outside.authority.certificate,
        "tls_key": outside.authority.key,
    }
    proxy = {
        "environment": {"CERTIFICATES": "own"},
        "volumes": [f"{file}:/run/secrets/{name}:ro" for name, file in pair.items()],
    }
    services = dict.fromkeys(("web", "worker", "beat"), trusting)
    return {"services": {"proxy": proxy, **services}}


def _remove(project: str) -> None:
    """Remove what is left of the stack, and of sandboxes of its runs."""
    label = f"label=com.docker.compose.project={project}"
    containers = docker("ps", "--all", "--quiet", "--filter", label).split()
    sandbox = f"ancestor={OWN}patchwright-sandbox:latest"
    containers += docker("ps", "--all", "--quiet", "--filter", sandbox).split()
    if containers:
        docker("rm", "--force", "--volumes", *containers)
    for kind in ("network", "volume"):
        if left := docker(kind, "ls", "--quiet", "--filter", label).split():
            docker(kind, "rm", *left)
