"""Say what a path of the sandbox is, and how risky it is to touch."""

import re
from enum import Enum, auto
from fnmatch import fnmatchcase
from posixpath import join, normpath
from typing import Final

from patchwright.core.security.analyzer import LOW_RISK, Verdict, high_risk, medium_risk

REPOSITORY: Final = "/workspace/repo"
WORKSPACE: Final = "/workspace"
HOME: Final = "/home/user"
SCRATCH: Final = "/tmp"  # noqa: S108 - the sandbox's own; nothing is opened here

# What a part of a path is that nobody knows before it is run.
UNKNOWN_PART: Final = "\0"


class PathKind(Enum):
    """What kind of thing a path is, from the one that must not be read downwards."""

    CREDENTIAL = auto()
    DEVICE = auto()
    STARTUP = auto()
    GIT = auto()
    CI = auto()
    REPOSITORY = auto()
    SCRATCH = auto()
    HOME = auto()
    SYSTEM = auto()


class _Known:
    """Paths that are known by name, with all that is under them."""

    def __init__(self, *paths: str) -> None:
        self._paths = [path.replace("~", HOME, 1) for path in paths]
        spelled = (re.escape(one).replace(r"\*", "[^/]*") for one in self._paths)
        self._pattern = re.compile(rf"(?:{'|'.join(spelled)})(?:/|\Z)")

    def covers(self, full: str) -> bool:
        """Tell whether a path is one of them, or may be through its wildcards."""
        if self._pattern.match(full):
            return True
        if not _WILD.search(full):
            return False
        parts = full.split("/")
        heads = ((one, "/".join(parts[: one.count("/") + 1])) for one in self._paths)
        return any(fnmatchcase(known, head) for known, head in heads)


_WILD: Final = re.compile(r"[*?\[]")
_HOMES: Final = re.compile(r"(?:/root|/home/[^/]+)(?=/|$)")
_CREDENTIALS: Final = _Known(
    "~/.ssh", "~/.ssh/id_rsa", "~/.ssh/id_ed25519", "~/.aws", "~/.aws/credentials",
    "~/.azure", "~/.config/gcloud", "~/.config/gh", "~/.config/git/credentials",
    "~/.kube", "~/.kube/config", "~/.docker/config.json", "~/.netrc",
    "~/.git-credentials", "~/.gnupg", "~/.pypirc", "~/.npmrc", "~/.bash_history",
    "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/run/secrets",
    "/var/run/secrets", "/run/docker.sock", "/var/run/docker.sock",
    "/run/containerd/containerd.sock",
)  # fmt: skip
_OF_PROCESSES: Final = re.compile(r"/proc/(?:[^/]+/)+(?:environ|mem|maps|root|cwd)\b")
_KEY_NAMES: Final = re.compile(r"(?:^|/)id_(?:rsa|dsa|ecdsa|ed25519)$")
_HARMLESS_DEVICES: Final = re.compile(
    r"/dev/(?:null|zero|full|u?random|tty|std(?:in|out|err)|fd/\d+|shm(?:/.*)?)$"
)
_STARTUP: Final = _Known(
    "~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.bash_logout", "~/.profile",
    "~/.zshrc", "~/.zshenv", "~/.zprofile", "~/.config/fish", "~/.config/systemd",
    "~/.config/autostart", "~/.gitconfig", "~/.config/git", "~/.pam_environment",
    "/etc/cron*", "/var/spool/cron", "/etc/systemd", "/lib/systemd",
    "/usr/lib/systemd", "/etc/init.d", "/etc/rc*", "/etc/profile*", "/etc/bash*",
    "/etc/ld.so*", "/etc/environment", "/etc/pam.d", "/etc/passwd", "/etc/group",
)  # fmt: skip
_CI: Final = re.compile(
    r"(?:^|/)(?:\.github/(?:workflows|actions)(?:/|$)|\.circleci(?:/|$)"
    r"|\.gitlab-ci\.ya?ml$|\.gitlab/ci(?:/|$)|\.travis\.yml$|Jenkinsfile[^/]*$"
    r"|azure-pipelines[^/]*\.ya?ml$|bitbucket-pipelines\.yml$|\.buildkite(?:/|$)"
    r"|\.drone\.yml$|\.woodpecker(?:/|$|\.ya?ml$))"
)
_GIT: Final = re.compile(r"(?:^|/)\.git(?:/|$)")


def absolute(path: str, folder: str = REPOSITORY) -> str:
    """Return a path without `.` and `..`, its home folder always spelled the same."""
    if path == "~" or path.startswith("~/"):
        path = HOME + path[1:]
    full = normpath(join(folder, path.replace(UNKNOWN_PART, "?")))
    return _HOMES.sub(HOME, re.sub("^//+", "/", full))


def kind_of_path(full: str) -> PathKind:
    """Return what an absolute path is; wildcards in it count as what they may match."""
    is_key = _OF_PROCESSES.match(full) or _KEY_NAMES.search(full)
    if is_key or _CREDENTIALS.covers(full):
        return PathKind.CREDENTIAL
    if full.startswith("/dev/"):
        harmless = _HARMLESS_DEVICES.match(full)
        return PathKind.SCRATCH if harmless else PathKind.DEVICE
    if _STARTUP.covers(full):
        return PathKind.STARTUP
    if _GIT.search(full):
        return PathKind.GIT
    if _CI.search(full):
        return PathKind.CI
    return _whereabouts(full)


def judge_read(path: str, folder: str = REPOSITORY) -> Verdict:
    place = kind_of_path(absolute(path, folder))
    if place is PathKind.CREDENTIAL:
        return high_risk("It reads where credentials are kept.")
    if place is PathKind.DEVICE:
        return medium_risk("It reads a device.")
    return LOW_RISK


def judge_write(path: str, folder: str = REPOSITORY) -> Verdict:
    full = absolute(path, folder)
    match kind_of_path(full):
        case PathKind.CREDENTIAL:
            return high_risk("It writes where credentials are kept.")
        case PathKind.DEVICE:
            return high_risk("It writes to a device.")
        case PathKind.STARTUP:
            return high_risk("It changes what is run later by itself.")
        case PathKind.GIT:
            return high_risk("It changes what git keeps for itself, such as hooks.")
        case PathKind.CI:
            return medium_risk("It changes what the CI runs.")
        case PathKind.REPOSITORY | PathKind.SCRATCH:
            return LOW_RISK
        case PathKind.HOME if full.startswith((f"{HOME}/.cache", f"{HOME}/.local")):
            return medium_risk("It writes into the home folder.")
        case PathKind.HOME | PathKind.SYSTEM:
            return high_risk("It writes outside the workspace.")


def judge_delete(path: str, folder: str = REPOSITORY) -> Verdict:
    """Judge the deletion of a path with all that is under it."""
    if path.startswith(UNKNOWN_PART):
        return medium_risk(
            "It deletes a folder whose name is only known when it is run."
        )
    full = absolute(path, folder)
    bare = full.rstrip("*").rstrip("/") or "/"
    place = kind_of_path(bare)
    if bare == SCRATCH:
        return LOW_RISK
    if bare in {"/", HOME, "/home", WORKSPACE, REPOSITORY}:
        return high_risk("It deletes a whole root folder.")
    if place is PathKind.GIT:
        return high_risk("It deletes the repository's history or a part of it.")
    if place in {PathKind.REPOSITORY, PathKind.SCRATCH}:
        return LOW_RISK
    if place is PathKind.CI:
        return medium_risk("It changes what the CI runs.")
    return high_risk("It deletes outside the workspace.")


def _whereabouts(full: str) -> PathKind:
    if full == WORKSPACE or full.startswith(f"{WORKSPACE}/"):
        return PathKind.REPOSITORY
    if full.startswith((f"{SCRATCH}/", "/var/tmp/")) or full == SCRATCH:  # noqa: S108 - as above
        return PathKind.SCRATCH
    return PathKind.HOME if full.startswith(HOME) else PathKind.SYSTEM
