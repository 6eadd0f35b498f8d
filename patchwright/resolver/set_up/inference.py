"""Infer how a sandbox is set up for a repository, from the names of its files.

Nothing is read and nothing is run here: files come in as texts, commands go out.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from patchwright.resolver.set_up.python_projects import (
    is_installable,
    pip_arguments,
    requirement_files,
)
from patchwright.resolver.set_up.registry_hosts import Ecosystem, find_hosts

# Folders whose files say nothing about how the tests are run.
_PASSED_OVER: Final = frozenset({
    *("bench", "benchmark", "benchmarks", "demo", "demos", "doc", "docs", "example"),
    *("examples", "fixtures", "node_modules", "sample", "samples", "site-packages"),
    *("spec", "test", "tests", "third_party", "vendor"),
})  # fmt: skip
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
class _Folder:
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
        kept = tuple(_keep(*one) for one in (variables or {}).items())
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
    root, folders = _Folder("", _files_of("", files)), _folders(files)
    steps: list[SetUpStep] = []
    for find in (_python, _node, _go, _rust, _ruby, _php):
        at_root = find(root)
        found = [at_root] if at_root else [find(one) for one in folders]
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


def _folders(files: Mapping[str, str]) -> list[_Folder]:
    names = sorted({path.partition("/")[0] for path in files if "/" in path})
    return [
        _Folder(name, _files_of(name, files))
        for name in names
        if name not in _PASSED_OVER and name != _REQUIREMENTS_FOLDER and _is_plain(name)
    ]


def _is_plain(name: str) -> bool:
    """Tell whether a name is one word for a shell, and for a reader."""
    return name.isascii() and name.replace("-", "").replace("_", "").isalnum()


def _python(folder: _Folder) -> SetUpStep | None:
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


def _pip(folder: _Folder) -> str:
    """Return the command that fills a virtual environment with pip, if there is one.

    What the image has already stays in sight: it may be all that is needed.
    """
    arguments = pip_arguments(folder.files)
    if not arguments:
        return ""
    make = "python3 -m venv --system-site-packages .venv"
    return f"{make} && .venv/bin/python -m pip install --quiet {arguments}"


def _node(folder: _Folder) -> SetUpStep | None:
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


def _go(folder: _Folder) -> SetUpStep | None:
    # Images of Go keep modules where a sandbox may not write.
    own = {"GOPATH": "$HOME/go"}
    return _usual(folder, Ecosystem.GO, "go.mod", "go mod download", own)


def _rust(folder: _Folder) -> SetUpStep | None:
    own = {"CARGO_HOME": "$HOME/.cargo"}
    return _usual(folder, Ecosystem.RUST, "Cargo.lock", "cargo fetch --locked", own)


def _ruby(folder: _Folder) -> SetUpStep | None:
    own = {"BUNDLE_PATH": "$HOME/bundle", "BUNDLE_APP_CONFIG": "$HOME/.bundle"}
    return _usual(folder, Ecosystem.RUBY, "Gemfile.lock", "bundle install", own)


def _php(folder: _Folder) -> SetUpStep | None:
    install = "composer install --no-interaction --no-progress"
    return _usual(folder, Ecosystem.PHP, "composer.lock", install, {})


def _usual(
    folder: _Folder,
    ecosystem: Ecosystem,
    name: str,
    install: str,
    variables: Mapping[str, str],
) -> SetUpStep | None:
    if name not in folder.files:
        return None
    return folder.step(ecosystem, name, install, variables=variables)


def _keep(name: str, value: str) -> str:
    """Set a variable for the rest of the set-up and for all that is run later."""
    return f'export {name}="{value}" && echo "{name}=${name}" >> {_ENVIRONMENT_FILE}'


def _with_fallback(install: str, fallback: str) -> str:
    """Use another way in a sandbox that lacks the program of the first one."""
    program = install.partition(" ")[0]
    return (
        f"if command -v {program} >/dev/null; then {install}\n"
        f"else echo '{program} is not in the sandbox: another way is tried'; "
        f"{fallback}; fi"
    )


_Finder = Callable[[_Folder], SetUpStep | None]
_OF_PYTEST: Final = frozenset({"conftest.py", "pytest.ini", "tox.ini"})
_NAMES: Final = frozenset({
    *("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pyproject.toml"),
    *("setup.py", "setup.cfg", "tox.ini", "pytest.ini", "conftest.py"),
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml"),
    *("yarn.lock", ".yarnrc.yml", ".npmrc", "go.mod", "Cargo.lock", "Gemfile.lock"),
    "composer.lock",
})  # fmt: skip


def step_hosts(steps: tuple[SetUpStep, ...]) -> Iterator[str]:
    for step in steps:
        yield from step.hosts
