"""Infer how a sandbox is set up for a repository, and from which hosts, by its files.

Nothing is read and nothing is run here: files come in as texts, commands go out.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final
from urllib.parse import urlsplit

from patchwright.core.security.hosts import read_domain
from patchwright.resolver.set_up.python_projects import (
    is_installable,
    pip_arguments,
    requirement_files,
)


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


# Folders whose files say nothing about how the tests are run.
_PASSED_OVER: Final = frozenset({
    *("bench", "benchmark", "benchmarks", "demo", "demos", "doc", "docs", "example"),
    *("examples", "fixtures", "node_modules", "sample", "samples", "site-packages"),
    *("requirements", "spec", "test", "tests", "third_party", "vendor"),
})  # fmt: skip
# One word for a shell, and for a reader.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_MOST_FOLDERS: Final = 3
_REQUIREMENTS_FOLDER: Final = "requirements"
# A file to which a set-up adds lines NAME=value, for all that is run later.
_ENVIRONMENT_FILE: Final = '"$PATCHWRIGHT_ENV"'


@dataclass(frozen=True)
class SetUpStep:
    """What is installed for one package manager in one folder.

    `source` is the file that says so, `shown` the command as people would type it, and
    `commands` are run one after the other. They need `hosts` on the network.
    """

    source: str
    shown: str
    commands: tuple[str, ...]
    hosts: tuple[str, ...]


@dataclass(frozen=True)
class _ProjectFolder:
    """A folder of the repository, "" for its root, and its files by name."""

    path: str
    files: Mapping[str, str]

    def has(self, *names: str) -> str:
        """Return the first of these files that exists, or nothing."""
        return next((name for name in names if name in self.files), "")

    def step(
        self,
        ecosystem: Ecosystem,
        name: str,
        install: str,
        *,
        fallback: str = "",
        variables: Mapping[str, str] | None = None,
    ) -> SetUpStep:
        """Return the step that the file `name` asks for.

        `variables` are kept for the commands of tests, and set before the installation.
        Without the program that `install` starts with, `fallback` is run.
        """
        path = f"{self.path}/{name}" if self.path else name
        shown = f"cd {self.path} && {install}" if self.path else install
        body = _with_fallback(install, fallback) if fallback else install
        run = f"(cd {self.path} && {body})" if self.path else body
        # A variable is set for the rest of the set-up and for all that is run later.
        kept = tuple(
            f'export {name}="{value}" && echo "{name}=${name}" >> {_ENVIRONMENT_FILE}'
            for name, value in (variables or {}).items()
        )
        return SetUpStep(path, shown, (*kept, run), find_hosts(ecosystem, self.files))

    @property
    def virtual_environment(self) -> dict[str, str]:
        """The variables by which its programs come first."""
        path = f"$PWD/{self.path}/.venv" if self.path else "$PWD/.venv"
        return {"PATH": f"{path}/bin:$PATH"}


def infer_steps(files: Mapping[str, str]) -> tuple[SetUpStep, ...]:
    """Return what a repository's lock files and manifests ask to install.

    `files` are the texts of its files by path; only those of the root and of the
    folders in it matter. Those folders count for a package manager of which the root
    has no file, a few of them.
    """
    root, folders = _ProjectFolder("", _files_of("", files)), _folders(files)
    steps: list[SetUpStep] = []
    for ecosystem in Ecosystem:
        at_root = _find_step(ecosystem, root)
        nested = (_find_step(ecosystem, one) for one in folders)
        found = [at_root] if at_root else [*nested]
        steps += [step for step in found if step][:_MOST_FOLDERS]
    return tuple(steps)


def is_of_interest(path: str) -> bool:
    """Tell whether a file can matter to what is inferred."""
    folder, _, name = path.rpartition("/")
    is_near = "/" not in folder or folder.endswith(f"/{_REQUIREMENTS_FOLDER}")
    return is_near and (name in _NAMES or name.endswith(".txt"))


def is_manifest(path: str) -> bool:
    """Tell whether a file says what is installed: if it changes, all is set up anew."""
    name = path.rpartition("/")[2]
    if not is_of_interest(path) or name in _OF_PYTEST:
        return False
    return not name.endswith(".txt") or "requirements" in path


def _files_of(folder: str, files: Mapping[str, str]) -> dict[str, str]:
    prefix = f"{folder}/" if folder else ""
    return {
        path.removeprefix(prefix): text
        for path, text in files.items()
        if path.startswith(prefix)
    }


def _folders(files: Mapping[str, str]) -> list[_ProjectFolder]:
    names = sorted({path.partition("/")[0] for path in files if "/" in path})
    return [
        _ProjectFolder(name, _files_of(name, files))
        for name in names
        if name not in _PASSED_OVER and _PLAIN.fullmatch(name)
    ]


def _python(folder: _ProjectFolder) -> SetUpStep | None:
    own, pip = folder.virtual_environment, _pip(folder)
    locked: dict[str, tuple[str, str]] = {
        "uv.lock": ("uv sync --frozen", pip),
        "poetry.lock": ("poetry install --no-interaction", pip),
        "pdm.lock": ("pdm sync --dev", pip),
        "Pipfile.lock": ("pipenv sync --dev", pip),
    }
    # Each tool makes its environment where the others, and people, look for it.
    inside = {"poetry.lock": "POETRY_VIRTUALENVS_IN_PROJECT"}
    inside |= {"Pipfile.lock": "PIPENV_VENV_IN_PROJECT"}
    lock = folder.has(*locked)
    if lock:
        install, fallback = locked[lock]
        told = {inside[lock]: "1"} if lock in inside else {}
        return folder.step(
            Ecosystem.PYTHON,
            lock,
            install,
            fallback=fallback,
            variables={**told, **own},
        )
    if not pip:
        return None
    listed = requirement_files(folder.files)
    source = listed[0] if listed else folder.has("pyproject.toml", "setup.py")
    if is_installable(folder.files) or listed:
        return folder.step(Ecosystem.PYTHON, source or "setup.cfg", pip, variables=own)
    return None


def _pip(folder: _ProjectFolder) -> str:
    """Return the command that fills a virtual environment with pip, if there is one.

    What the image has already stays in sight: it may be all that is needed.
    """
    arguments = pip_arguments(folder.files)
    if not arguments:
        return ""
    make = "python3 -m venv --system-site-packages .venv"
    return f"{make} && .venv/bin/python -m pip install --quiet {arguments}"


def _node(folder: _ProjectFolder) -> SetUpStep | None:
    is_new_yarn = ".yarnrc.yml" in folder.files
    yarn = f"yarn install {'--immutable' if is_new_yarn else '--frozen-lockfile'}"
    pnpm = "pnpm install --frozen-lockfile"
    ways = {
        "package-lock.json": ("npm ci --no-audit --no-fund", ""),
        "npm-shrinkwrap.json": ("npm ci --no-audit --no-fund", ""),
        # Corepack comes with Node, and fetches the version that package.json names.
        "pnpm-lock.yaml": (pnpm, f"corepack {pnpm}"),
        "yarn.lock": (yarn, f"corepack {yarn}"),
    }
    lock = folder.has(*ways)
    if not lock or "package.json" not in folder.files:
        return None
    install, fallback = ways[lock]
    return folder.step(Ecosystem.NODE, lock, install, fallback=fallback)


# What knows one lock file and one command. Images of these languages keep packages
# where a sandbox may not write.
_ONE_WAY: Final[Mapping[Ecosystem, tuple[str, str, Mapping[str, str]]]] = {
    Ecosystem.GO: ("go.mod", "go mod download", {"GOPATH": "$HOME/go"}),
    Ecosystem.RUST: (
        "Cargo.lock",
        "cargo fetch --locked",
        {"CARGO_HOME": "$HOME/.cargo"},
    ),
    Ecosystem.RUBY: (
        "Gemfile.lock",
        "bundle install",
        {"BUNDLE_PATH": "$HOME/bundle", "BUNDLE_APP_CONFIG": "$HOME/.bundle"},
    ),
    Ecosystem.PHP: (
        "composer.lock",
        "composer install --no-interaction --no-progress",
        {},
    ),
}


def _find_step(ecosystem: Ecosystem, folder: _ProjectFolder) -> SetUpStep | None:
    if ecosystem is Ecosystem.PYTHON:
        return _python(folder)
    if ecosystem is Ecosystem.NODE:
        return _node(folder)
    name, install, variables = _ONE_WAY[ecosystem]
    if name not in folder.files:
        return None
    return folder.step(ecosystem, name, install, variables=variables)


def _with_fallback(install: str, fallback: str) -> str:
    """Use another way in a sandbox that lacks the program of the first one."""
    program = install.partition(" ")[0]
    return (
        f"if command -v {program} >/dev/null; then {install}\n"
        f"else echo '{program} is not in the sandbox: another way is tried'; "
        f"{fallback}; fi"
    )


_OF_PYTEST: Final = frozenset({"conftest.py", "pytest.ini", "tox.ini"})
_NAMES: Final = frozenset({
    *("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pyproject.toml"),
    *("setup.py", "setup.cfg", "tox.ini", "pytest.ini", "conftest.py"),
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml"),
    *("yarn.lock", ".yarnrc.yml", ".npmrc", "go.mod", "Cargo.lock", "Gemfile.lock"),
    "composer.lock",
})  # fmt: skip
