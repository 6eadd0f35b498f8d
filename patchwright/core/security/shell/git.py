"""The rules for git."""

import re
from dataclasses import replace
from typing import Final

from patchwright.core.security.analyzer import (
    LOW_RISK,
    Verdict,
    high_risk,
    medium_risk,
    worst_verdict,
)
from patchwright.core.security.shell.script import ProgramCall, ProgramRules

_GLOBAL_VALUED: Final = {"-C", "-c", "--git-dir", "--work-tree", "--namespace"}
_PUSHES: Final = "It would push or send commits, which is not the agent's to do."
_CONFIGURES: Final = (
    "It changes where git sends things, with which credential, or what it runs."
)
_REWRITES: Final = "It rewrites or drops history."
_LOSES: Final = "It may lose work that is not committed."
_FETCHES: Final = "It fetches from another machine."
_CONFIG: Final = re.compile(
    r"(?:credential|url|alias|filter|includeif|include|http|https|remote|protocol"
    r"|sendemail|pager|difftool|mergetool)\..*"
    r"|core\.(?:hookspath|sshcommand|fsmonitor|editor|pager|askpass|gitproxy)"
    r"|(?:diff|merge)\..*\.(?:command|driver|textconv)|diff\.external"
    r"|sequence\.editor|gpg\..*program|uploadpack\..*|init\.templatedir",
    re.IGNORECASE,
)
_READS_CONFIG: Final = {
    "--get",
    "--get-all",
    "--get-regexp",
    "--list",
    "-l",
    "get",
    "list",
}
_HELPERS: Final = ("ext::", "fd::")

_HIGH: Final = {
    **dict.fromkeys(("push", "send-email", "send-pack", "imap-send"), _PUSHES),
    **dict.fromkeys(
        ("credential", "credential-store", "credential-cache"), _CONFIGURES
    ),
    **dict.fromkeys(
        ("filter-branch", "filter-repo", "replace", "update-ref"), _REWRITES
    ),
    "prune": _REWRITES,
}
_MEDIUM: Final = {
    **dict.fromkeys(("clean", "restore", "switch"), _LOSES),
    **dict.fromkeys(
        ("fetch", "pull", "clone", "ls-remote", "submodule", "lfs", "daemon"), _FETCHES
    ),
    **dict.fromkeys(("rebase", "gc"), _REWRITES),
}


def _git(call: ProgramCall) -> Verdict:
    words = list(call.parted(_GLOBAL_VALUED))
    settings = [word.text for option, word in words if option == "-c"]
    if any(_CONFIG.match(setting) for setting in settings):
        return high_risk(_CONFIGURES)
    if any(text.startswith(_HELPERS) for text in call.texts):
        return high_risk("It has git run a command.")
    operands = [word.text for option, word in words if not option]
    if not operands:
        return LOW_RISK
    return _subcommand(call, operands[0], operands[1:])


def _subcommand(call: ProgramCall, name: str, operands: list[str]) -> Verdict:
    if name in _HIGH:
        return high_risk(_HIGH[name])
    match name, operands:
        case "remote", ["add" | "set-url" | "rename" | "remove" | "rm", *_]:
            return high_risk(_CONFIGURES)
        case "config", _:
            return _config(call, operands)
        case "reflog", ["expire" | "delete", *_]:
            return high_risk(_REWRITES)
        case "gc", _ if call.has("--prune"):
            return high_risk(_REWRITES)
        case "bisect", ["run", *_]:
            return _run(call, after="run")
        case "submodule", ["foreach", *script]:
            return call.run(" ".join(script), call.command)
        case (("rebase" | "difftool" | "mergetool"), _) if _scripts(call):
            return worst_verdict(
                call.run(script, call.command) for script in _scripts(call)
            )
        case "stash", ["drop" | "clear", *_]:
            return medium_risk(_LOSES)
        case _:
            return _by_options(call, name)


def _by_options(call: ProgramCall, name: str) -> Verdict:
    if name in _MEDIUM:
        return medium_risk(_MEDIUM[name])
    if name in {"reset", "checkout"} and call.has("--hard", "-f", "--force", "--"):
        return medium_risk(_LOSES)
    if name == "checkout" and call.texts[-1] in {".", "--", "*"}:
        return medium_risk(_LOSES)
    if name == "branch" and call.has("-D", "--force"):
        return medium_risk(_REWRITES)
    if name == "commit" and call.has("--amend"):
        return medium_risk(_REWRITES)
    return LOW_RISK


def _config(call: ProgramCall, operands: list[str]) -> Verdict:
    if any(text in _READS_CONFIG for text in call.texts):
        return LOW_RISK
    sets = [text for text in operands if text not in {"set", "unset", "edit"}]
    if call.has("--global", "--system", "-e", "--edit", "--file", "-f"):
        return high_risk(_CONFIGURES)
    dangerous = any(_CONFIG.match(text) for text in sets[:1])
    return high_risk(_CONFIGURES) if dangerous and len(sets) > 1 else LOW_RISK


def _run(call: ProgramCall, after: str) -> Verdict:
    at = call.texts.index(after) + 1
    return call.start(replace(call.command, words=call.arguments[at:]))


def _scripts(call: ProgramCall) -> list[str]:
    return [word.text for word in call.values_of("-x", "--exec", "--extcmd")]


GIT_RULES: Final[ProgramRules] = {"git": _git}
