"""See to the programs that this project's tests and demo need from the system."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.provision.engine import engine_answers
from tests.provision.errors import ProvisionError
from tests.provision.locking import machine_lock
from tests.provision.postgres_server import find_program
from tests.provision.servers import log_tail

# Servers live in folders that are not on everyone's PATH.
SYSTEM_PATH = os.pathsep.join((os.defpath, "/usr/local/sbin", "/usr/sbin", "/sbin"))
NONINTERACTIVE = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y")


@dataclass(frozen=True)
class Component:
    """Something the system must have, and Debian's packages that bring it."""

    name: str
    packages: tuple[str, ...]
    is_there: Callable[[], bool]


def _has(program: str) -> Callable[[], bool]:
    return lambda: bool(
        shutil.which(program) or shutil.which(program, path=SYSTEM_PATH)
    )


def _is_usable(path: str) -> Callable[[], bool]:
    return lambda: os.access(path, os.R_OK)


def _has_plugin(name: str) -> bool:
    if not _has("docker")():
        return False
    asked = ["docker", name, "version"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


GIT = Component("git", ("git",), _has("git"))
BUBBLEWRAP = Component("bubblewrap", ("bubblewrap",), _has("bwrap"))
DEBOOTSTRAP = Component("debootstrap", ("debootstrap",), _has("debootstrap"))
REDIS = Component("Redis", ("redis-server",), _has("redis-server"))
POSTGRESQL = Component(
    "PostgreSQL", ("postgresql",), lambda: find_program("initdb") is not None
)
DOCKER = Component(
    "a Docker engine",
    # dockerd cannot start a container on an AppArmor kernel without its parser.
    ("docker.io", "apparmor"),
    lambda: _has("dockerd")() or engine_answers(),
)
COMPOSE = Component(
    "Docker Compose",
    ("docker-compose",),
    lambda: _has("docker-compose")() or _has_plugin("compose"),
)
# Bubblewrap's sandboxes see the system's Python, and what it has installed.
PYTEST = Component(
    "pytest of the system's Python",
    ("python3-pytest",),
    Path("/usr/lib/python3/dist-packages/pytest").is_dir,
)
# Docker asks it which processes a container has.
PS = Component("ps", ("procps",), _has("ps"))
# Commits are signed with keys that it makes.
SSH_KEYGEN = Component("ssh-keygen", ("openssh-client",), _has("ssh-keygen"))
# Playwright drives the system's own, and needs none that it would fetch.
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Return the path of a Chromium, if the system has one."""
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


CHROMIUM = Component(
    "Chromium",
    ("chromium", "fonts-liberation"),
    lambda: find_chromium() is not None,
)
# Whose projects the real ones are; Debian's, since sandboxes see /usr alone.
TOOLCHAINS = (
    Component("pytest", ("python3-pytest",), _is_usable("/usr/bin/pytest-3")),
    Component("tox", ("tox",), _is_usable("/usr/bin/tox")),
    Component("nox", ("nox",), _is_usable("/usr/bin/nox")),
    Component("Node.js", ("nodejs", "npm"), _has("npm")),
    Component("Go", ("golang-go",), _is_usable("/usr/bin/go")),
    Component("Rust", ("cargo",), _is_usable("/usr/bin/cargo")),
    Component("RSpec", ("ruby-rspec",), _is_usable("/usr/bin/rspec")),
    Component("PHPUnit", ("phpunit",), _is_usable("/usr/bin/phpunit")),
    Component("CMake", ("cmake", "make", "gcc", "libc6-dev"), _has("ctest")),
    Component(
        "Maven",
        (
            *("maven", "default-jdk-headless", "junit4", "libsurefire-java"),
            *("libmaven-compiler-plugin-java", "libmaven-resources-plugin-java"),
        ),
        _is_usable("/usr/share/java/maven-surefire-plugin.jar"),
    ),
    Component("Gradle", ("gradle",), _is_usable("/usr/bin/gradle")),
)
ANY_SANDBOX = Component(
    "bubblewrap or a Docker engine",
    ("bubblewrap",),
    lambda: BUBBLEWRAP.is_there() or engine_answers(),
)
# Only root can make an image for the engine; others go on with bubblewrap.
IMAGE_MAKER = Component(
    "debootstrap",
    ("debootstrap",),
    lambda: DEBOOTSTRAP.is_there() or os.geteuid() != 0 or not engine_answers(),
)

NEEDED = {
    "demo": (GIT, ANY_SANDBOX, IMAGE_MAKER),
    "test": (
        *(GIT, SSH_KEYGEN, BUBBLEWRAP, DEBOOTSTRAP, REDIS, POSTGRESQL),
        *(DOCKER, PS, PYTEST),
    ),
    "test-web": (CHROMIUM,),
    "test-real": TOOLCHAINS,
    "test-deploy": (GIT, DEBOOTSTRAP, DOCKER, PS, COMPOSE),
}


def ensure(purpose: str) -> None:
    """Install what is missing for a target of make, or say what to install."""
    with machine_lock("components"):
        missing = find_missing(NEEDED[purpose])
        if not missing:
            return
        if os.geteuid() == 0 and shutil.which("apt-get"):
            _install(missing)
            missing = find_missing(NEEDED[purpose])
        if missing:
            raise ProvisionError(_advice(purpose, missing))


def find_missing(components: Sequence[Component]) -> list[Component]:
    return [component for component in components if not component.is_there()]


def _install(missing: Sequence[Component]) -> None:
    packages = _packages(missing)
    sys.stdout.write(f"Installing {' '.join(packages)}\n")
    sys.stdout.flush()
    log = Path(tempfile.gettempdir(), "patchwright-tests-apt.log")
    _run_apt(log, "update")
    _run_apt(log, "install", "--no-install-recommends", *packages)


def _run_apt(log: Path, *arguments: str) -> None:
    # A file, since a server that a package starts would hold a pipe open for ever.
    with log.open("ab") as output:
        ended = subprocess.run(
            [*NONINTERACTIVE, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=False,
        )
    if ended.returncode != 0:
        raise ProvisionError(f"apt-get {arguments[0]} failed:\n{log_tail(log)}")


def _advice(purpose: str, missing: Sequence[Component]) -> str:
    names = ", ".join(component.name for component in missing)
    return (
        f"make {purpose} needs {names}.\n"
        f"On Debian or Ubuntu: apt-get install {' '.join(_packages(missing))}\n"
        "As root it installs them itself."
    )


def _packages(components: Sequence[Component]) -> list[str]:
    return [package for component in components for package in component.packages]


def main(purpose: str) -> int:
    try:
        ensure(purpose)
    except ProvisionError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
