"""The rules for what installs or publishes packages."""

import re
from typing import Final

from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.shell.call import Call, Rule, Rules
from patchwright.core.security.verdicts import LOW, high, medium

INSTALLS: Final = "It installs packages, whose code is other people's."
_ELSEWHERE: Final = "It installs code from an address that no registry vouches for."
_PUBLISHES: Final = "It publishes a package."

_ADDRESS: Final = re.compile(r"(?:[\w+.-]+://|git\+|git@|github:|gitlab:|bitbucket:)")
_GITHUB_SHORT: Final = re.compile(r"[A-Za-z][\w-]*/[\w.-]+(?:#.+)?\Z")
_INDEX: Final = (
    "-i", "--index-url", "--extra-index-url", "--index", "--default-index",
    "--find-links", "-f", "--trusted-host", "--registry", "--source", "--git",
)  # fmt: skip
_INSTALLING: Final = {
    "install", "add", "i", "ci", "get", "download", "sync", "update", "upgrade",
    "require", "create", "exec", "dlx", "run", "global", "tool", "x", "isntall",
}  # fmt: skip
_PUBLISHING: Final = {"publish", "upload", "push", "login", "adduser", "token", "owner"}
_SCOPED: Final = {"npm", "pnpm", "yarn", "bun", "npx", "pnpx", "bunx"}


def _packages(*installing: str) -> Rule:
    """Return a rule for a tool of which only these subcommands install."""

    def judge(call: Call) -> Verdict:
        subcommands = [w.text for w in call.operands(_INDEX)]
        if any(text in _PUBLISHING for text in subcommands[:2]):
            return high(_PUBLISHES)
        if not any(text in installing for text in subcommands[:2]):
            return LOW
        return _install(call)

    return judge


def _install(call: Call) -> Verdict:
    if call.values_of(*_INDEX) or any(_is_elsewhere(call, t) for t in call.texts):
        return high(_ELSEWHERE)
    return medium(INSTALLS)


def _is_elsewhere(call: Call, text: str) -> bool:
    if _ADDRESS.search(text):
        return True
    return call.name in _SCOPED and bool(_GITHUB_SHORT.match(text))


def _fetch_and_run(call: Call) -> Verdict:
    return _install(call)


def _publish(call: Call) -> Verdict:
    return high(_PUBLISHES) if call.has("upload", "push") or call.texts else LOW


PIP: Final = _packages("install", "download", "wheel")
_SYSTEM: Final = _packages("install", "add", "upgrade", "dist-upgrade", "update", "-S")

RULES: Final[Rules] = {
    **dict.fromkeys(("pip", "pipx", "conda", "mamba"), PIP),
    **dict.fromkeys(("easy_install", "npx", "pnpx", "bunx", "uvx"), _fetch_and_run),
    "uv": _packages("install", "add", "sync", "tool", "lock"),
    **dict.fromkeys(
        ("poetry", "pdm", "pipenv", "hatch"),
        _packages("install", "add", "sync", "update"),
    ),
    **dict.fromkeys(
        ("npm", "pnpm", "yarn", "bun"),
        _packages("install", "i", "ci", "add", "update", "exec", "dlx", "create", "x"),
    ),
    "cargo": _packages("install", "add", "update"),
    "go": _packages("install", "get"),
    **dict.fromkeys(
        ("gem", "bundle", "composer"), _packages("install", "update", "require", "add")
    ),
    **dict.fromkeys(
        ("apt", "apt-get", "aptitude", "dnf", "yum", "apk", "brew", "zypper"), _SYSTEM
    ),
    **dict.fromkeys(("dpkg", "rpm", "snap", "flatpak", "pacman"), _fetch_and_run),
    "twine": _publish,
}
