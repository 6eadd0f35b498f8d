"""Find the compilers, interpreters and tools that a person has outside of /usr."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from patchwright.sandbox.local.environments import find_bases, read_text


class Toolchain(NamedTuple):
    """Folders and files to show, what of them is looked for in PATH, and variables."""

    places: tuple[Path, ...]
    path: tuple[Path, ...] = ()
    variables: Mapping[str, str] = {}


class _VersionManager(NamedTuple):
    """Where a version manager keeps the versions of one tool, and names the chosen one.

    `versions` is a folder below its root, in which `inner` is each version's own
    folder. `default` is a file below the root.
    """

    root_variable: str
    root: str
    versions: str
    version_variable: str = ""
    files: tuple[str, ...] = ()
    default: str = ""
    inner: str = ""


_NODE_FILES: Final = (".nvmrc", ".node-version")
_MANAGERS: Final = (
    _VersionManager(
        *("PYENV_ROOT", ".pyenv", "versions", "PYENV_VERSION"),
        *((".python-version",), "version"),
    ),
    _VersionManager(
        *("RBENV_ROOT", ".rbenv", "versions", "RBENV_VERSION"),
        *((".ruby-version",), "version"),
    ),
    _VersionManager(
        *("NODENV_ROOT", ".nodenv", "versions", "NODENV_VERSION"),
        *((".node-version",), "version"),
    ),
    _VersionManager(
        *("GOENV_ROOT", ".goenv", "versions", "GOENV_VERSION"),
        *((".go-version",), "version"),
    ),
    _VersionManager(
        *("NVM_DIR", ".nvm", "versions/node", "", _NODE_FILES, "alias/default")
    ),
    _VersionManager(
        *("FNM_DIR", ".local/share/fnm", "node-versions", "", _NODE_FILES),
        *("", "installation"),
    ),
)
# They keep all tools in one way: a folder for each, and in it one for each version.
_TOOL_MANAGERS: Final = (
    ("ASDF_DATA_DIR", ".asdf"),
    ("MISE_DATA_DIR", ".local/share/mise"),
)
_PROGRAMS: Final = (
    *("python3", "python", "node", "npm", "pnpm", "yarn", "bun", "deno", "go", "cargo"),
    *("java", "mvn", "gradle", "kotlinc", "ruby", "bundle", "php", "composer"),
    *("dotnet", "cmake", "ninja", "uv", "poetry", "pdm", "hatch", "tox", "nox", "just"),
)
_BREW: Final = Path("/home/linuxbrew/.linuxbrew")
_STORE: Final = Path("/nix/store")
# One name of a folder; it may stand in a file of the repository.
_VERSION: Final = re.compile(r"(?!\.)[A-Za-z0-9][A-Za-z0-9._+@-]*")
_NUMBERS: Final = re.compile(r"\d+")
_ALREADY: Final = frozenset(map(Path, ("/usr/local/bin", "/usr/bin", "/bin", "/sbin")))


def find_toolchains(
    checkout: Path, home: Path, environ: Mapping[str, str], *, is_offline: bool
) -> Iterator[Toolchain]:
    """Yield what is chosen for a checkout, the first ones first in PATH."""
    for manager in _MANAGERS:
        yield from _managed(manager, checkout, home, environ)
    yield from _volta(checkout, home, environ)
    for variable, usual in _TOOL_MANAGERS:
        root = Path(environ.get(variable) or home / usual)
        if (root / "installs").is_dir():
            yield from _managed_tools(root / "installs", checkout, home, environ)
    yield from _rust(checkout, home, environ, is_offline=is_offline)
    yield from _go(home, environ, is_offline=is_offline)
    yield from _java(environ)
    yield from _gems(home, environ)
    yield from _programs(environ)


def _managed(
    manager: _VersionManager, checkout: Path, home: Path, environ: Mapping[str, str]
) -> Iterator[Toolchain]:
    root = Path(environ.get(manager.root_variable) or home / manager.root)
    folder = root / manager.versions
    if not folder.is_dir():
        return
    wanted = environ.get(manager.version_variable, "") if manager.files else ""
    wanted = wanted or _nearest(manager.files, checkout, home)
    wanted = wanted or (read_text(root / manager.default) if manager.default else "")
    if not wanted.strip() and not manager.default:
        # fnm has a link instead of a file.
        default = (root / "aliases" / "default").resolve()
        wanted = default.parent.name if default.name == manager.inner else ""
    for version in reversed(wanted.split()):
        if found := _installed(folder, version):
            place = found / manager.inner if manager.inner else found
            yield Toolchain((place,), (place / "bin",))


def _nearest(names: tuple[str, ...], checkout: Path, home: Path) -> str:
    """Return the text of the nearest file of these names, from the checkout to home."""
    for folder in _upwards(checkout, home):
        for name in names:
            if text := read_text(folder / name).strip():
                return text
    return ""


def _upwards(checkout: Path, home: Path) -> Iterator[Path]:
    yield checkout
    yield from (one for one in checkout.parents if home == one or home in one.parents)
    if home not in checkout.parents:
        yield home


def _installed(folder: Path, wanted: str) -> Path | None:
    """Return the newest installed version that a name such as `18` or `lts/*` means."""
    try:
        names = [one.name for one in folder.iterdir() if one.is_dir()]
    except OSError:
        return None
    name = wanted.removeprefix("v")
    if wanted in ("node", "stable", "latest") or wanted.startswith("lts"):
        fitting = names
    elif not _VERSION.fullmatch(name):
        return None
    else:
        bare = {one: one.removeprefix("v") for one in names}
        exact = [one for one in names if name in (one, bare[one])]
        fitting = exact or [one for one in names if bare[one].startswith(f"{name}.")]
    newest = max(fitting, key=_version_key, default="")
    return folder / newest if newest else None


def _version_key(name: str) -> list[int]:
    return [int(one) for one in _NUMBERS.findall(name)]


def _volta(
    checkout: Path, home: Path, environ: Mapping[str, str]
) -> Iterator[Toolchain]:
    root = Path(environ.get("VOLTA_HOME") or home / ".volta")
    images = root / "tools" / "image"
    if not images.is_dir():
        return
    package = _read_object(checkout / "package.json").get("volta")
    usual = _read_object(root / "tools" / "user" / "platform.json").get("node")
    chosen = package if isinstance(package, dict) else {}
    default = usual.get("runtime") if isinstance(usual, dict) else ""
    for tool in ("node", "npm", "pnpm", "yarn"):
        wanted = chosen.get(tool) or (default if tool == "node" else "")
        found = _installed(images / tool, wanted) if isinstance(wanted, str) else None
        if found:
            yield Toolchain((found,), (found / "bin",))


def _read_object(path: Path) -> Mapping[str, object]:
    with suppress(ValueError):
        read = json.loads(read_text(path) or "{}")
        return read if isinstance(read, dict) else {}
    return {}


def _managed_tools(
    installs: Path, checkout: Path, home: Path, environ: Mapping[str, str]
) -> Iterator[Toolchain]:
    """Yield the tools of asdf and mise that files or variables choose."""
    chosen: dict[str, str] = {}
    for folder in _upwards(checkout, home):
        for tool, versions in _tool_versions(folder):
            chosen.setdefault(tool, versions)
    for text in (read_text(home / ".config" / "mise" / "config.toml"),):
        for tool, version in _mise_tools(text):
            chosen.setdefault(tool, version)
    for tool, usual in chosen.items():
        if not _VERSION.fullmatch(tool):
            continue
        named = environ.get(f"ASDF_{tool.upper()}_VERSION") or usual
        for version in reversed(named.split()):
            if found := _installed(installs / tool, version):
                # The folder of Go has another one in it.
                inner = found / "go" if (found / "go" / "bin").is_dir() else found
                yield Toolchain((found,), (inner / "bin",))


def _tool_versions(folder: Path) -> Iterator[tuple[str, str]]:
    """https://asdf-vm.com/manage/configuration.html, and the same in TOML for mise."""
    for line in read_text(folder / ".tool-versions").splitlines():
        tool, _, versions = line.partition("#")[0].strip().partition(" ")
        if versions.strip():
            yield tool, versions.strip()
    for name in ("mise.toml", ".mise.toml"):
        yield from _mise_tools(read_text(folder / name))


def _mise_tools(text: str) -> Iterator[tuple[str, str]]:
    section = re.search(
        r"^\[tools\]\s*$(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL
    )
    assigned = r"""^\s*["']?([\w-]+)["']?\s*=\s*\[?\s*["']([^"']+)["']"""
    yield from re.findall(assigned, section[1], re.MULTILINE) if section else ()


def _rust(
    checkout: Path, home: Path, environ: Mapping[str, str], *, is_offline: bool
) -> Iterator[Toolchain]:
    """Yield the chosen toolchain, cargo's own programs, and the packages it has.

    Not the folder of cargo itself: tokens of registries are in it.
    """
    rustup = Path(environ.get("RUSTUP_HOME") or home / ".rustup")
    cargo = Path(environ.get("CARGO_HOME") or home / ".cargo")
    if not (rustup / "toolchains").is_dir():
        return
    chosen = environ.get("RUSTUP_TOOLCHAIN") or _chosen_rust(checkout, rustup)
    found = _rust_toolchain(rustup / "toolchains", chosen)
    if found is None:
        return
    packages = tuple(
        one
        for one in (
            cargo / "registry",
            cargo / "git" / "checkouts",
            cargo / "git" / "db",
        )
        if one.is_dir()
    )
    # Where something can be fetched, it is kept in the sandbox's own folder.
    usable = packages if is_offline else ()
    offline = {"CARGO_HOME": str(cargo), "CARGO_NET_OFFLINE": "true"}
    programs = (cargo / "bin",) if (cargo / "bin").is_dir() else ()
    yield Toolchain(
        (found, *programs, *usable),
        (found / "bin", *programs),
        {
            "RUSTUP_HOME": str(rustup),
            "RUSTUP_TOOLCHAIN": found.name,
            **(offline if usable else {}),
        },
    )


def _chosen_rust(checkout: Path, rustup: Path) -> str:
    """Return which toolchain the repository names, else the default of the machine."""
    text = read_text(checkout / "rust-toolchain.toml")
    text = text or read_text(checkout / "rust-toolchain")
    named = re.search(r'channel\s*=\s*"([^"]+)"', text)
    plain = text.strip() if "[" not in text else ""
    if chosen := named[1] if named else plain:
        return chosen
    settings = read_text(rustup / "settings.toml")
    default = re.search(r'^default_toolchain\s*=\s*"([^"]+)"', settings, re.MULTILINE)
    return default[1] if default else ""


def _rust_toolchain(folder: Path, wanted: str) -> Path | None:
    if not _VERSION.fullmatch(wanted):
        return None
    if (folder / wanted).is_dir():
        return folder / wanted
    return next(iter(sorted(folder.glob(f"{wanted}-*"))), None)


def _go(
    home: Path, environ: Mapping[str, str], *, is_offline: bool
) -> Iterator[Toolchain]:
    """Yield Go's modules as a source of modules: in its own cache Go must write."""
    first = environ.get("GOPATH", "").split(":")[0] or str(home / "go")
    cache = Path(environ.get("GOMODCACHE") or Path(first, "pkg", "mod"))
    modules = cache / "cache" / "download"
    root = environ.get("GOROOT", "")
    variables = {"GOTOOLCHAIN": "local", **({"GOROOT": root} if root else {})}
    if is_offline and modules.is_dir():
        variables |= {"GOPROXY": f"file://{modules}", "GOSUMDB": "off"}
        yield Toolchain((modules,), (), variables)
    if root:
        yield Toolchain((Path(root),), (Path(root, "bin"),), variables)


def _java(environ: Mapping[str, str]) -> Iterator[Toolchain]:
    if found := environ.get("JAVA_HOME", ""):
        java = Path(found)
        yield Toolchain((java,), (java / "bin",), {"JAVA_HOME": found})


def _gems(home: Path, environ: Mapping[str, str]) -> Iterator[Toolchain]:
    named = [environ.get("GEM_HOME", ""), *environ.get("GEM_PATH", "").split(":")]
    usual = (home / ".local/share/gem/ruby", home / ".gem/ruby")
    folders = [Path(one) for one in named if one.startswith("/")]
    folders += [one for folder in usual if folder.is_dir() for one in folder.iterdir()]
    if folders := [one for one in dict.fromkeys(folders) if one.is_dir()]:
        # Ruby's own gems come after the last colon.
        path = "".join(f"{one}:" for one in folders)
        programs = tuple(one / "bin" for one in folders)
        yield Toolchain(tuple(folders), programs, {"GEM_PATH": path})


def _programs(environ: Mapping[str, str]) -> Iterator[Toolchain]:
    """Yield the installations of what stands in PATH itself, outside of the system."""
    folders = [Path(one) for one in environ.get("PATH", "").split(":")]
    path = ":".join(str(one) for one in folders if one.is_absolute())
    for program in _PROGRAMS:
        found = shutil.which(program, path=path)
        if found is None or Path(found).parent in _ALREADY:
            continue
        named = Path(found)
        # A shim asks its manager, whose choice was read above.
        if named.parent.name != "shims" and ".volta" not in named.parts:
            yield _installation(named)


def _installation(program: Path) -> Toolchain:
    """Return what a program needs around it, or the program alone."""
    real = program.resolve()
    for whole in (_BREW, _STORE):
        if whole in real.parents:
            return Toolchain((whole, program), (program.parent,))
    prefix = real.parent.parent
    is_whole = real.parent.name == "bin" and any(
        (prefix / one).exists() for one in ("pyvenv.cfg", "lib", "pkg", "jmods")
    )
    if not is_whole:
        return Toolchain((program,), (program.parent,))
    # The program too: a folder such as ~/.local is not shown as a whole.
    return Toolchain((prefix, *find_bases(prefix), program), (program.parent,))
