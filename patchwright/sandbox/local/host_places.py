"""Which files and folders of a person a local sandbox may show, and where."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from patchwright.core.runtime import HostPlaces, ShownPlace
from patchwright.sandbox.local.isolation import CLONE, HIDDEN_FOLDERS, Binding

# What holds keys, tokens or private things of a person, below the home folder. None of
# it is shown, nothing in it, and no folder that it is in.
_PRIVATE: Final = (
    *(".ssh", ".gnupg", ".config", ".aws", ".azure", ".docker", ".kube", ".netrc"),
    *(".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".pip", ".git-credentials"),
    *(".gitconfig", ".cargo/credentials", ".cargo/credentials.toml", ".cargo/config"),
    *(".cargo/config.toml", ".m2/settings.xml", ".m2/settings-security.xml"),
    *(".gradle/gradle.properties", ".gradle/init.d", ".gem/credentials", ".bundle"),
    *(".composer/auth.json", ".password-store", ".vault-token", ".terraform.d"),
    *(".local/share/keyrings", ".local/state", ".mozilla", ".thunderbird", ".oci"),
    *(".databricks", ".snowflake", ".pgpass", ".my.cnf", ".condarc"),
    *(".bash_history", ".zsh_history", ".python_history", ".node_repl_history"),
)
# What is the machine's, and what the sandbox has of its own.
_RESERVED: Final = ("/proc", "/dev", "/sys", "/run", "/etc", "/boot", "/var")
_OWN: Final = ("/workspace", "/egress", "/opt/patchwright")
# Visible in every sandbox.
_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# Files in a shown folder that may hold passwords and tokens.
MASKED_NAMES: Final = (
    *("pip.conf", "pip.ini", ".condarc", "condarc", ".npmrc", "npmrc", ".netrc"),
    *(".pypirc", ".env", ".envrc", ".yarnrc", ".yarnrc.yml", "uv.toml"),
)


class PlaceGuard:
    """Decides what may be shown of a machine on which a person has this home folder.

    A place is judged by its name and by where its links lead. Where the sandbox is
    `nobody`'s, as for root, it shows only what everybody may read.
    """

    def __init__(self, home: Path, *, nobody: bool | None = None) -> None:
        homes = dict.fromkeys((str(home), str(_resolved(home))))
        self._homes = tuple(homes)
        self._nobody = os.geteuid() == 0 if nobody is None else nobody

    def find_refusal(self, place: Path) -> str:
        """Return why a place must not be shown, or an empty text."""
        real = _resolved(place)
        for path in dict.fromkeys((place, real)):
            if reason := self._why_private(path):
                return reason
        if not real.exists():
            return "it does not exist"
        if self._nobody and not _is_open_to_all(real):
            return "only its owner can read it, and the sandbox of root is nobody's"
        return ""

    def _why_private(self, path: Path) -> str:
        if not path.is_absolute() or ".." in path.parts:
            return "it is not an absolute path"
        if len(path.parts) <= 2:  # noqa: PLR2004 - the root and a folder in it
            return "it is too much of this machine"
        place = str(path)
        if any(_is_within(place, one) for one in _OWN):
            return "the sandbox has its own folder there"
        at_home = any(_is_within(place, home) for home in self._homes)
        if not at_home and any(_is_within(place, one) for one in _RESERVED):
            return "it belongs to the machine"
        for home in self._homes:
            if _is_within(home, place):
                return "it contains the home folder"
            for name in _PRIVATE:
                private = f"{home}/{name}"
                if _is_within(place, private) or _is_within(private, place):
                    return f"~/{name} is private"
        if path.name in MASKED_NAMES:
            return "such files may hold passwords"
        return ""


def is_seen_anyway(place: Path) -> bool:
    """Tell whether every sandbox shows it, since it belongs to the system."""
    path = str(place)
    if any(_is_within(path, f"/{name}") for name in HIDDEN_FOLDERS):
        return False
    return any(_is_within(path, one) for one in _SYSTEM)


def show(place: Path) -> Iterator[ShownPlace]:
    """Yield a place by its name, and by the name that it has without links.

    Programs in it may know it by either.
    """
    real = _resolved(place)
    for path in dict.fromkeys((place, real)):
        if not is_seen_anyway(path):
            yield ShownPlace(source=str(real), place=str(path))


def find_masked(place: Path, folders: Iterable[str] = ("", "etc")) -> Iterator[str]:
    """Yield the files that may hold passwords, right in a folder or in these of it."""
    for folder in folders:
        for name in MASKED_NAMES:
            found = place / folder / name
            if found.is_file():
                yield str(found)


def bindings_of(places: HostPlaces, workspace: str) -> list[Binding]:
    """Return what is bound, outer folders before those that are in them."""
    found = {one.place: one.source for one in places.shown}
    clone = PurePosixPath(workspace, CLONE)
    for name in places.inside:
        source = str(Path(places.checkout, name).resolve())
        found.setdefault(str(Path(places.checkout, name)), source)
        found[str(clone / name)] = source
    ordered = sorted(found, key=lambda place: len(PurePosixPath(place).parts))
    return [Binding(Path(found[place]), place) for place in ordered]


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a circle of links
        return path


def _is_within(path: str, folder: str) -> bool:
    # As texts: of all that this costs, comparing paths as such was the most.
    return path == folder or path.startswith(f"{folder}/")


def _is_open_to_all(path: Path) -> bool:
    try:
        modes = [one.stat().st_mode for one in (path, *path.parents)]
    except OSError:
        return False
    return bool(modes[0] & stat.S_IROTH) and all(
        mode & stat.S_IXOTH for mode in modes[1:]
    )
