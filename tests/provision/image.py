"""Make the images that sandboxes and readers have in tests, from Debian's packages."""

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

from tests.provision.apt_sources import Mirror, other_release, own_mirror
from tests.provision.engine import ensure_engine
from tests.provision.errors import ProvisionError
from tests.provision.locking import machine_lock

IMAGE = "patchwright-sandbox:test"
PACKAGES = "git,python3,ca-certificates"


def ensure_image() -> str:
    """Return the image's name; it is made once per machine, which takes a minute."""
    return _ensure(IMAGE, own_mirror())


def ensure_other_image() -> str:
    """Return the name of an image of another release than this machine's, if any is.

    It has another Python, and other versions of the tools with which people install.
    """
    mirror = other_release(own_mirror())
    return _ensure(f"patchwright-other:{mirror.suite}", mirror)


def _ensure(image: str, mirror: Mirror) -> str:
    ensure_engine()
    with machine_lock(f"image-{image.partition(':')[0]}"):
        if not _exists(image):
            _make(image, mirror)
    return image


def _exists(image: str) -> bool:
    with closing(docker.from_env()) as client:
        try:
            client.images.get(image)
        except ImageNotFound:
            return False
        return True


def _make(image: str, mirror: Mirror) -> None:
    if os.geteuid() != 0:
        raise ProvisionError(
            f"the image {image} is missing, and only root can make it: "
            "run `python -m tests.provision.images` as root once"
        )
    with tempfile.TemporaryDirectory(prefix="patchwright-image-") as folder:
        root = Path(folder, "root")
        _bootstrap(root, mirror)
        _import(root, image)


def _bootstrap(root: Path, mirror: Mirror) -> None:
    argv = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}"]
    argv += [mirror.suite, str(root), mirror.uri]
    made = subprocess.run(argv, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise ProvisionError(f"debootstrap failed:\n{made.stdout[-2000:]}{made.stderr}")


def _import(root: Path, image: str) -> None:
    repository, _, tag = image.partition(":")
    with closing(docker.from_env()) as client, _archive(root) as stream:
        client.api.import_image_from_stream(stream, repository=repository, tag=tag)
    if not _exists(image):
        raise ProvisionError(f"the engine did not take the image {image}")


@contextmanager
def _archive(root: Path) -> Iterator[IO[bytes]]:
    argv = ["tar", "-C", str(root), "--exclude=./var/cache/apt/archives/*.deb"]
    with subprocess.Popen([*argv, "-c", "."], stdout=subprocess.PIPE) as tar:
        if tar.stdout is None:
            raise ProvisionError("tar has no output")
        yield tar.stdout


if __name__ == "__main__":
    sys.stdout.write(f"{ensure_image()}\n")
