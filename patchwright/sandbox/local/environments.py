"""Find the packages that a person has installed for a checkout."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Final, NamedTuple

# Git never sees what is untracked under these names in a sandbox's clone.
INSIDE_NAMES: Final = (".venv", "venv", "node_modules")
_ENVIRONMENT_NAMES: Final = (".venv", "venv", "env", ".env")
_MOST_PACKAGES: Final = 100
_PACKAGE_FOLDERS: Final = ("*", "packages/*", "apps/*", "libs/*")
_PNPM_LINE: Final = re.compile(r"""^\s*-\s*['"]?([^'"#\s]+)""", re.MULTILINE)
_MOST_BYTES: Final = 1 << 20


class PythonEnvironment(NamedTuple):
    """A virtual environment, or one of conda. `bases` has what its Python is from."""

    place: Path
    bases: tuple[Path, ...]
    is_conda: bool

    @property
    def site_packages(self) -> tuple[Path, ...]:
        return tuple(sorted(self.place.glob("lib/python3*/site-packages")))


def find_python_environment(
    checkout: Path, home: Path, environ: Mapping[str, str], own_prefix: Path
) -> PythonEnvironment | None:
    """Return the environment for a checkout: the active one, or the nearest.

    The one that this program itself runs in counts only if there is no other.
    """
    active = list(_active_environments(environ))
    is_own = [path for path in active if path == own_prefix]
    is_base = [path for path in active if environ.get("CONDA_DEFAULT_ENV") == "base"]
    last = [path for path in active if path in (*is_own, *is_base)]
    first = [path for path in active if path not in last]
    near = chain(
        _near_environments(checkout, home), _tool_environments(checkout, home, environ)
    )
    return next(
        (found for path in chain(first, near, last) if (found := _read(path))), None
    )


def _active_environments(environ: Mapping[str, str]) -> Iterator[Path]:
    for name in ("VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "CONDA_PREFIX"):
        if environ.get(name, "").startswith("/"):
            yield Path(environ[name])


def _near_environments(checkout: Path, home: Path) -> Iterator[Path]:
    """Yield where one may be, from the checkout up to the folder below home."""
    above = [one for one in checkout.parents if home in one.parents]
    for folder in (checkout, *above):
        for name in _ENVIRONMENT_NAMES:
            yield folder / name


def _tool_environments(
    checkout: Path, home: Path, environ: Mapping[str, str]
) -> Iterator[Path]:
    """Yield those that PDM, Poetry and Pipenv keep elsewhere."""
    interpreter = read_text(checkout / ".pdm-python").strip()
    if interpreter.startswith("/"):
        yield Path(interpreter).parent.parent
    cache = environ.get("POETRY_CACHE_DIR") or home / ".cache" / "pypoetry"
    kept = environ.get("POETRY_VIRTUALENVS_PATH") or Path(cache, "virtualenvs")
    # https://github.com/python-poetry/poetry/blob/main/src/poetry/utils/env/env_manager.py
    digest = hashlib.sha256(str(checkout.resolve()).encode()).digest()
    mark = base64.urlsafe_b64encode(digest).decode()[:8]
    yield from sorted(Path(kept).glob(f"*-{mark}-py*"), reverse=True)
    kept = environ.get("WORKON_HOME") or home / ".local" / "share" / "virtualenvs"
    for named in Path(kept).glob("*/.project"):
        if read_text(named).strip() == str(checkout):
            yield named.parent


def _read(place: Path) -> PythonEnvironment | None:
    is_conda = (place / "conda-meta").is_dir()
    with suppress(OSError):
        if is_conda or (place / "pyvenv.cfg").is_file():
            bases = dict.fromkeys(find_bases(place))
            return PythonEnvironment(place, tuple(bases), is_conda)
    return None


def find_bases(place: Path) -> Iterator[Path]:
    """Yield the installations that an environment's interpreter is linked from."""
    written = re.search(
        r"^home\s*=\s*(.+?)\s*$", read_text(place / "pyvenv.cfg"), re.MULTILINE
    )
    if written and written[1].startswith("/"):
        yield from _installation(Path(written[1], "python3"))
    # Each link on the way: some of them go through a folder that is a link itself.
    program = place / "bin" / "python"
    for _ in range(8):
        if not program.is_symlink():
            break
        program = program.parent / program.readlink()
        if program.parent != place / "bin":
            yield from _installation(program)


def _installation(program: Path) -> Iterator[Path]:
    prefix = program.parent.parent
    if program.parent.name == "bin" and any(prefix.glob("lib/python3*")):
        yield prefix


def hides_clone(
    environment: PythonEnvironment, checkout: Path, modules: tuple[str, ...]
) -> bool:
    """Tell whether a module of the checkout would be imported from elsewhere.

    So it is when it was installed as a copy, or from another folder than this one.
    """
    for folder in environment.site_packages:
        for module in modules:
            if (folder / module).is_dir() or (folder / f"{module}.py").is_file():
                return True
        for named in (*folder.glob("*.pth"), *folder.glob("__editable__*.py")):
            if _leads_elsewhere(read_text(named), checkout, modules):
                return True
    return False


def _leads_elsewhere(text: str, checkout: Path, modules: tuple[str, ...]) -> bool:
    """Read a line with a path, or the table of a finder, as setuptools writes it."""
    own = (str(checkout), str(checkout.resolve()))
    for line in text.splitlines():
        path = line.strip()
        if not path.startswith("/") or path.startswith(own):
            continue
        if any(Path(path, module).exists() for module in modules):
            return True
    return any(
        not mapped.startswith(own)
        for module in modules
        for mapped in re.findall(rf"'{re.escape(module)}': '(/[^']*)'", text)
    )


def find_modules(checkout: Path) -> tuple[tuple[str, ...], str]:
    """Return the packages at the top of a checkout, and the folder they are in."""
    for folder in ("src", ""):
        with suppress(OSError):
            found = sorted(
                path.parent.name for path in (checkout / folder).glob("*/__init__.py")
            )
            if found:
                return tuple(found), folder
    return (), ""


def find_package_folders(checkout: Path) -> tuple[str, ...]:
    """Return the folders `node_modules` of a checkout, those of its packages too."""
    patterns = (*_PACKAGE_FOLDERS, *_workspaces(checkout))
    folders = [checkout]
    with suppress(OSError, ValueError, NotImplementedError):
        found = chain.from_iterable(checkout.glob(one) for one in patterns)
        folders += islice(
            (one for one in found if (one / "package.json").is_file()), _MOST_PACKAGES
        )
    named = {
        str((one / "node_modules").relative_to(checkout))
        for one in folders
        if (one / "node_modules").is_dir()
        # A link could lead to anything.
        and not (one / "node_modules").is_symlink()
        and "node_modules" not in one.parts
    }
    return tuple(sorted(named))


def _workspaces(checkout: Path) -> tuple[str, ...]:
    found: object = ()
    with suppress(ValueError):
        found = json.loads(read_text(checkout / "package.json") or "{}")
    found = found.get("workspaces") if isinstance(found, dict) else ()
    listed = found.get("packages") if isinstance(found, dict) else found
    named = [one for one in listed if isinstance(one, str)] if listed else []
    named += _PNPM_LINE.findall(read_text(checkout / "pnpm-workspace.yaml"))
    return tuple(
        one.rstrip("/")
        for one in named
        if one and "**" not in one and not one.startswith(("/", "!", ".."))
    )


def read_text(path: Path) -> str:
    """Return a small file's text; what cannot be read is empty."""
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
