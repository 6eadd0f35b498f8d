"""Find the package mirror and release that this machine itself is set up with."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.provision.errors import ProvisionError

APT = Path("/etc/apt")
OS_RELEASE = Path("/etc/os-release")
# deb [signed-by=... arch=amd64] URI SUITE COMPONENT...
ONE_LINE = re.compile(r"deb\s+(?:\[[^]]*\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+\S")


# Releases of one distribution that have a Python for this project, each with another.
OTHER_RELEASE = {"bookworm": "trixie", "trixie": "bookworm"}


@dataclass(frozen=True)
class Mirror:
    """Where packages come from, and for which release of the distribution."""

    uri: str
    suite: str


def own_mirror(apt: Path = APT, os_release: Path = OS_RELEASE) -> Mirror:
    """Return the mirror of this machine's own release."""
    codename = _codename(os_release.read_text())
    files = [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]
    for file in filter(Path.is_file, files):
        for mirror in read_mirrors(file.name, file.read_text()):
            if mirror.suite == codename:
                return Mirror(_resolve(mirror.uri), mirror.suite)
    raise ProvisionError(f"no package source for {codename} under {apt}")


def other_release(mirror: Mirror) -> Mirror:
    """Return the same mirror for another release; where none fits, for its own."""
    return Mirror(mirror.uri, OTHER_RELEASE.get(mirror.suite, mirror.suite))


def read_mirrors(file_name: str, text: str) -> Iterator[Mirror]:
    """Read one file of apt's; both of its formats (sources.list(5)) are known."""
    if file_name.endswith(".sources"):
        yield from _read_stanzas(text)
    elif file_name.endswith(".list"):
        for found in map(ONE_LINE.match, text.splitlines()):
            if found:
                yield Mirror(found["uri"], found["suite"])


def _resolve(uri: str) -> str:
    """Take the first of a list of mirrors (apt-transport-mirror(1)) that is a file."""
    listed = uri.removeprefix("mirror+file:")
    return uri if listed == uri else Path(listed).read_text().split()[0]


def _read_stanzas(text: str) -> Iterator[Mirror]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in re.split(r"\n\s*\n", "\n".join(lines)):
        fields = dict(re.findall(r"(?m)^([\w-]+):[ \t]*(.*)$", stanza))
        if (
            "deb" not in fields.get("Types", "").split()
            or fields.get("Enabled") == "no"
        ):
            continue
        for uri in fields.get("URIs", "").split():
            for suite in fields.get("Suites", "").split():
                yield Mirror(uri, suite)


def _codename(os_release: str) -> str:
    found = re.search(r"(?m)^VERSION_CODENAME=\"?(\w+)", os_release)
    if found is None:
        raise ProvisionError("/etc/os-release names no Debian or Ubuntu release")
    return found[1]
