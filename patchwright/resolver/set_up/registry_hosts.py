"""The hosts that package managers fetch from: as lock files say, or as is usual."""

import re
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Final
from urllib.parse import urlsplit

from patchwright.core.security.hosts import read_domain


class Ecosystem(Enum):
    PYTHON = auto()
    NODE = auto()
    GO = auto()
    RUST = auto()
    RUBY = auto()
    PHP = auto()


# Labels of names, from which a host is joined: no address of a registry is text here.
_USUAL: Final[Mapping[Ecosystem, tuple[tuple[str, ...], ...]]] = {
    Ecosystem.PYTHON: (("pypi", "org"), ("files", "pythonhosted", "org")),
    Ecosystem.NODE: (("registry", "npmjs", "org"),),
    Ecosystem.GO: (("proxy", "golang", "org"), ("sum", "golang", "org")),
    Ecosystem.RUST: (("index", "crates", "io"), ("static", "crates", "io")),
    Ecosystem.RUBY: (("rubygems", "org"), ("index", "rubygems", "org")),
    Ecosystem.PHP: (
        ("repo", "packagist", "org"),
        ("api", "github", "com"),
        ("codeload", "github", "com"),
    ),
}
# Where a lock file says from where everything comes that it lists.
_RESOLVED: Final = re.compile(r'\bresolved"?:? +"(https?://[^"\s]+)"')
_LOCKS: Final[Mapping[str, re.Pattern[str]]] = {
    "package-lock.json": _RESOLVED,
    "npm-shrinkwrap.json": _RESOLVED,
    "yarn.lock": _RESOLVED,
    "uv.lock": re.compile(r'\b(?:registry|url) = "(https?://[^"\s]+)"'),
    "Gemfile.lock": re.compile(r"^ +remote: (https?://\S+)", re.MULTILINE),
}
_NPM_REGISTRY: Final = re.compile(r"^\s*registry\s*=\s*(https?://\S+)", re.MULTILINE)
_PIP_INDEX: Final = re.compile(
    r"^\s*(?:-i|--index-url)[ =]\s*(https?://\S+)", re.MULTILINE
)
_PIP_MORE: Final = re.compile(
    r"^\s*(?:--extra-index-url|--find-links)[ =]\s*(https?://\S+)", re.MULTILINE
)
# A file that leads to more hosts than this is no reason to list them all.
_MOST_HOSTS: Final = 20


def find_hosts(ecosystem: Ecosystem, files: Mapping[str, str]) -> tuple[str, ...]:
    """Return the hosts that an installation from the files of a folder needs.

    `files` are the texts of its files, by name, as far as they matter to this
    ecosystem. A registry of their own stands in for the usual one.
    """
    usual = tuple(".".join(labels) for labels in _USUAL[ecosystem])
    own = tuple(_own_registries(ecosystem, files))
    listed = tuple(_listed(files))
    if own:
        # Package managers ask it for what the lock file has from the usual one, too.
        found = (*own, *(one for one in listed if one not in usual))
    else:
        found = listed or usual
    more = _more_indexes(files) if ecosystem is Ecosystem.PYTHON else ()
    return tuple(dict.fromkeys((*found, *more)))[:_MOST_HOSTS]


def _own_registries(ecosystem: Ecosystem, files: Mapping[str, str]) -> Iterator[str]:
    if ecosystem is Ecosystem.NODE:
        yield from _hosts_in(_NPM_REGISTRY, files.get(".npmrc", ""))
    if ecosystem is Ecosystem.PYTHON:
        for name, text in files.items():
            if name.endswith(".txt"):
                yield from _hosts_in(_PIP_INDEX, text)


def _more_indexes(files: Mapping[str, str]) -> Iterator[str]:
    for name, text in files.items():
        if name.endswith(".txt"):
            yield from _hosts_in(_PIP_MORE, text)


def _listed(files: Mapping[str, str]) -> Iterator[str]:
    for name, pattern in _LOCKS.items():
        yield from _hosts_in(pattern, files.get(name, ""))


def _hosts_in(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield the host of each URL, with its port if that is no usual one."""
    for url in dict.fromkeys(pattern.findall(text)):
        try:
            parts = urlsplit(url)
            port = f":{parts.port}" if parts.port else ""
            read_domain(host := f"{parts.hostname or ''}{port}")
        except ValueError:
            continue
        yield host
