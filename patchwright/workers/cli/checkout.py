"""The repository on the forge that a checkout belongs to, by its remotes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

from patchwright.core.plugin import ServiceProfile
from patchwright.core.types.errors import GitError, SettingsError
from patchwright.core.types.threads import name_pattern
from patchwright.integrations.git.local import LocalRepository
from patchwright.integrations.registry import list_forges

# In a fork this is the usual name of the repository that it was made from.
_PREFERRED: Final = ("upstream", "origin")
_SCP_FORM: Final = re.compile(r"(?:[\w.-]+@)?(?P<host>[\w.-]+):(?!//)(?P<path>.+)")


class Numbered(Protocol):
    """A number that means something in the repository of a checkout."""

    @property
    def number(self) -> int: ...

    @property
    def folder(self) -> Path: ...


@dataclass(frozen=True)
class RemoteAddress:
    """Where a repository is: a host, with a port where HTTP needs one, and a path."""

    host: str
    path: str


@dataclass(frozen=True)
class ForgeRemote:
    """A remote that is a repository on the forge."""

    name: str
    full_name: str


def find_repository(wanted: Numbered, forge: ServiceProfile) -> tuple[str, str]:
    """Return the repository's full name, and a sentence on how it was found.

    Raises `SettingsError` where the remotes leave open which one it is.
    """
    try:
        remotes = LocalRepository.open(wanted.folder).remotes()
    except GitError as error:
        raise SettingsError(
            f"{wanted.number} is an issue of the repository that is checked out, and "
            f"there is none here: {error}. Use OWNER/NAME#{wanted.number}, or -C "
            "FOLDER for another folder"
        ) from error
    chosen = choose_remote(remotes, forge, wanted.number)
    return chosen.full_name, f"{chosen.full_name} is the remote {chosen.name}"


def list_remotes(folder: Path) -> tuple[str, ...]:
    """Return the addresses of a checkout's remotes; none where there is no checkout."""
    try:
        return tuple(LocalRepository.open(folder).remotes().values())
    except GitError:
        return ()


def choose_remote(
    remotes: Mapping[str, str], forge: ServiceProfile, number: int
) -> ForgeRemote:
    """Return the remote whose issues are meant: of a fork, the one it is a fork of."""
    instead = f"use OWNER/NAME#{number}"
    found = [
        ForgeRemote(name, full_name)
        for name, address in remotes.items()
        if (full_name := _name_on_forge(read_address(address), forge))
    ]
    if not found:
        seen = ", ".join(
            f"{name} is on {read_address(address).host or 'this machine'}"
            for name, address in remotes.items()
        )
        raise SettingsError(
            f"no remote of this checkout is on {forge.web_url} "
            f"({seen or 'it has no remotes'}); {instead}. {other_host_advice()}"
        )
    by_name = {one.name: one for one in found}
    for name in _PREFERRED:
        if name in by_name:
            return by_name[name]
    if len({one.full_name.casefold() for one in found}) > 1:
        names = ", ".join(f"{one.name} ({one.full_name})" for one in found)
        raise SettingsError(
            f"this checkout has several remotes on {forge.web_url}, and none is called "
            f"upstream or origin: {names}; {instead}"
        )
    return found[0]


def read_repository(text: str, forge: ServiceProfile) -> str:
    """Return the full name of what `--repo` has: a name, or an address on the forge."""
    if name := _name_on_forge(read_typed_address(text), forge):
        return name
    if _is_name(text, forge):
        return text
    raise SettingsError(
        f"--repo {text}: expected OWNER/NAME or {forge.web_url}/OWNER/NAME. "
        f"{other_host_advice()}"
    )


def other_host_advice() -> str:
    """Say how to name a host that no forge is on by itself."""
    names = " or ".join(one.address_setting for one in list_forges())
    return f"For another host set {names}"


def read_typed_address(text: str) -> RemoteAddress:
    """Read an address that people may type without its scheme, as browsers show it."""
    with_scheme = "://" in text or "@" in text
    return read_address(text if with_scheme else f"https://{text}")


def read_address(address: str) -> RemoteAddress:
    """Read the address of a remote; that of a folder has no host.

    https://git-scm.com/docs/git-clone#_git_urls
    """
    if "://" not in address:
        found = _SCP_FORM.fullmatch(address)
        if found is None:
            return RemoteAddress("", address)
        return RemoteAddress(found["host"].lower(), _clean_path(found["path"]))
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2].lower()
    if not parts.scheme.startswith("http"):
        host = host.partition(":")[0]
    return RemoteAddress(host, _clean_path(parts.path))


def _clean_path(path: str) -> str:
    return path.strip("/").removesuffix(".git")


def _name_on_forge(address: RemoteAddress, forge: ServiceProfile) -> str:
    """Return the full name, or nothing for an address that is not on the forge."""
    site = urlsplit(forge.web_url)
    # https://docs.github.com/authentication/troubleshooting-ssh/using-ssh-over-the-https-port
    hosts = {site.netloc, site.hostname, f"www.{site.hostname}", f"ssh.{site.hostname}"}
    if address.host not in hosts:
        return ""
    base = site.path.strip("/")
    path = address.path.removeprefix(f"{base}/") if base else address.path
    return path if _is_name(path, forge) else ""


def _is_name(text: str, forge: ServiceProfile) -> bool:
    pattern = name_pattern(has_groups=forge.forms.has_groups)
    return re.fullmatch(pattern, text) is not None
