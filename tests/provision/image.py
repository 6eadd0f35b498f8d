"""Make the image that sandboxes run on in tests, from the machine's own packages."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

import docker
from docker.errors import ImageNotFound

from tests.provision.apt_sources import own_mirror
from tests.provision.engine import ensure_engine
from tests.provision.errors import ProvisionError
from tests.provision.locking import machine_lock

REPOSITORY, TAG = "patchwright-sandbox", "test"
IMAGE = f"{REPOSITORY}:{TAG}"
PACKAGES = "git,python3,ca-certificates"


def ensure_image() -> str:
    """Return the image's name; it is made once per machine, which takes a minute."""
    ensure_engine()
    with machine_lock("image"):
        if not _exists():
            _make()
    return IMAGE


def _exists() -> bool:
    with closing(docker.from_env()) as client:
        try:
            client.images.get(IMAGE)
        except ImageNotFound:
            return False
        return True


def _make() -> None:
    if os.geteuid() != 0:
        raise ProvisionError(
            f"the image {IMAGE} is missing, and only root can make it: "
            "run `python -m tests.provision.image` as root once"
        )
    with tempfile.TemporaryDirectory(prefix="patchwright-image-") as folder:
        _bootstrap(Path(folder, "root"))
        _import(Path(folder, "root"))


def _bootstrap(root: Path) -> None:
    mirror = own_mirror()
    argv = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}"]
    argv += [mirror.suite, str(root), mirror.uri]
    made = subprocess.run(argv, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise ProvisionError(f"debootstrap failed:\n{made.stdout[-2000:]}{made.stderr}")


def _import(root: Path) -> None:
    with closing(docker.from_env()) as client, _archive(root) as stream:
        client.api.import_image_from_stream(stream, repository=REPOSITORY, tag=TAG)
    if not _exists():
        raise ProvisionError(f"the engine did not take the image {IMAGE}")


@contextmanager
def _archive(root: Path) -> Iterator[IO[bytes]]:
    argv = ["tar", "-C", str(root), "--exclude=./var/cache/apt/archives/*.deb"]
    with subprocess.Popen([*argv, "-c", "."], stdout=subprocess.PIPE) as tar:
        if tar.stdout is None:
            raise ProvisionError("tar has no output")
        yield tar.stdout


if __name__ == "__main__":
    sys.stdout.write(f"{ensure_image()}\n")
