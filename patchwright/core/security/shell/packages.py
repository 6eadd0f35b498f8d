"""The rules for what installs or publishes packages."""

import re
from typing import Final

from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.shell.call import ProgramCall, ProgramRule, ProgramRules, always_risky, for_programs
from patchwright.core.security.verdicts import LOW_RISK, high_risk, medium_risk

_INSTALLS: Final = "It installs packages, whose code is other people's."
_ELSEWHERE: Final = "It installs code from an address that no registry vouches for."
PUBLISHES: Final = "It publishes a package."

_ADDRESS: Final = re.compile(r"(?:[\w+.-]+://|git\+|git@|github:|gitlab:|bitbucket:)")
_GITHUB_SHORT: Final = re.compile(r"[A-Za-z][\w-]*/[\w.-]+(?:#.+)?\Z")
_INDEX: Final = (
    "-i", "--index-url", "--extra-index-url", "--index", "--default-index",
    "--find-links", "-f", "--trusted-host", "--registry", "--source", "--git",
)  # fmt: skip
_PUBLISHING: Final = {"publish", "upload", "push", "login", "adduser", "token", "owner"}
_SCOPED: Final = {"npm", "pnpm", "yarn", "bun", "npx", "pnpx", "bunx"}


def _packages(*installing: str) -> ProgramRule:
    """Return a rule for a tool of which only these subcommands install."""

    def judge(call: ProgramCall) -> Verdict:
        subcommands = [w.text for w in call.operands(_INDEX)]
        if any(text in _PUBLISHING for text in subcommands[:2]):
            return high_risk(PUBLISHES)
        if not any(text in installing for text in subcommands[:2]):
            return LOW_RISK
        return _install(call)

    return judge


def _install(call: ProgramCall) -> Verdict:
    if call.values_of(*_INDEX) or any(_is_elsewhere(call, t) for t in call.texts):
        return high_risk(_ELSEWHERE)
    return medium_risk(_INSTALLS)


def _is_elsewhere(call: ProgramCall, text: str) -> bool:
    if _ADDRESS.search(text):
        return True
    return call.name in _SCOPED and bool(_GITHUB_SHORT.match(text))


PIP: Final = _packages("install", "download", "wheel")

PACKAGE_RULES: Final[ProgramRules] = {
    **for_programs("pip pipx conda mamba", PIP),
    **for_programs("easy_install npx pnpx bunx uvx dpkg rpm snap flatpak", _install),
    **for_programs(
        "uv poetry pdm pipenv hatch",
        _packages("install", "add", "sync", "update", "tool", "lock"),
    ),
    **for_programs(
        "npm pnpm yarn bun",
        _packages("install", "i", "ci", "add", "update", "exec", "dlx", "create", "x"),
    ),
    **for_programs(
        "cargo go gem bundle composer",
        _packages("install", "add", "update", "get", "require"),
    ),
    **for_programs(
        "apt apt-get aptitude dnf yum apk brew zypper pacman",
        _packages("install", "add", "upgrade", "dist-upgrade", "update", "-S"),
    ),
    "twine": always_risky(PUBLISHES),
}
