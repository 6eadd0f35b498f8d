"""The rules for git, and for programs that change files, rights or the machine."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from patchwright.core.security.analyzer import (
    LOW_RISK,
    Verdict,
    high_risk,
    medium_risk,
    worst_verdict,
)
from patchwright.core.security.paths import (
    UNKNOWN_PART,
    PathKind,
    absolute,
    judge_delete,
    judge_write,
    kind_of_path,
)
from patchwright.core.security.shell.script import (
    ProgramCall,
    ProgramRule,
    ProgramRules,
    ShellWord,
    first_match,
    for_programs,
    names_in,
)
from patchwright.core.security.shell.wrappers import start_folders

_PUSHES: Final = high_risk(
    "It would push or send commits, which is not the agent's to do."
)
_CONFIGURES: Final = high_risk(
    "It changes where git sends things, with which credential, or what it runs."
)
_REWRITES: Final = "It rewrites or drops history."
_LOSES: Final = medium_risk("It may lose work that is not committed.")
_FETCHES: Final = medium_risk("It fetches from another machine.")
_GIT_VALUED: Final = "-C -c --git-dir --work-tree --namespace"
_CONFIG: Final = re.compile(
    r"(?:credential|url|alias|filter|includeif|include|http|https|remote|protocol"
    r"|sendemail|pager|difftool|mergetool)\..*"
    r"|core\.(?:hookspath|sshcommand|fsmonitor|editor|pager|askpass|gitproxy)"
    r"|(?:diff|merge)\..*\.(?:command|driver|textconv)|diff\.external"
    r"|sequence\.editor|gpg\..*program|uploadpack\..*|init\.templatedir",
    re.IGNORECASE,
)
_READS_CONFIG: Final = {
    *("--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list")
}
_HELPERS: Final = ("ext::", "fd::")


def _git(call: ProgramCall) -> Verdict:
    if any(_CONFIG.match(setting.text) for setting in call.values_of("-c")):
        return _CONFIGURES
    if any(text.startswith(_HELPERS) for text in call.texts):
        return high_risk("It has git run a command.")
    return _GIT_SUBCOMMANDS(call)


def _git_config(call: ProgramCall) -> Verdict:
    if _READS_CONFIG.intersection(call.texts):
        return LOW_RISK
    if call.has("--global", "--system", "-e", "--edit", "--file", "-f"):
        return _CONFIGURES
    _, *operands = (word.text for word in call.operands(_GIT_VALUED.split()))
    sets = [text for text in operands if text not in {"set", "unset", "edit"}]
    return _CONFIGURES if len(sets) > 1 and _CONFIG.match(sets[0]) else LOW_RISK


def _git_bisect(call: ProgramCall) -> Verdict:
    words = call.arguments[call.texts.index("run") + 1 :]
    return call.start(replace(call.command, words=words))


def _git_foreach(call: ProgramCall) -> Verdict:
    words = call.operands(_GIT_VALUED.split())[2:]
    return call.run(" ".join(word.text for word in words), call.command)


def _git_scripts(call: ProgramCall) -> Verdict:
    scripts = call.values_of("-x", "--exec", "--extcmd")
    return worst_verdict(
        (call.run(script.text, call.command) for script in scripts),
        medium_risk(_REWRITES) if "rebase" in call.texts else LOW_RISK,
    )


def _git_checkout(call: ProgramCall) -> Verdict:
    return _LOSES if call.texts[-1] in {".", "--", "*"} else LOW_RISK


_GIT_SUBCOMMANDS: Final = first_match(
    ("push|send-email|send-pack|imap-send", _PUSHES),
    ("credential|credential-store|credential-cache", _CONFIGURES),
    ("filter-branch|filter-repo|replace|update-ref|prune", high_risk(_REWRITES)),
    ("remote add|set-url|rename|remove|rm", _CONFIGURES),
    ("config", _git_config),
    ("reflog expire|delete", high_risk(_REWRITES)),
    ("gc --prune", high_risk(_REWRITES)),
    ("bisect run", _git_bisect),
    ("submodule foreach", _git_foreach),
    ("rebase|difftool|mergetool", _git_scripts),
    ("stash drop|clear", _LOSES),
    ("clean|restore|switch", _LOSES),
    ("fetch|pull|clone|ls-remote|submodule|lfs|daemon", _FETCHES),
    ("gc", medium_risk(_REWRITES)),
    ("reset|checkout --hard|-f|--force|--", _LOSES),
    ("checkout", _git_checkout),
    ("branch -D|--force", medium_risk(_REWRITES)),
    ("commit --amend", medium_risk(_REWRITES)),
    valued=_GIT_VALUED,
)


# Four octal digits of which the first has the setuid or setgid bit, or `+s`.
_SETS_ID: Final = re.compile(r"(?:[ugo]*[+=][rwxXt]*s|0?[2467]\d{3}\Z)")
_SED_RUNS: Final = re.compile(r"/[gip0-9]*e[gip]*(?:\s|;|$)|^\d*e\s")
_INTO: Final = ("-t", "--target-directory")
_OWN: Final = {PathKind.REPOSITORY, PathKind.SCRATCH, PathKind.CI}
_OUTSIDE: Final = {PathKind.SYSTEM, PathKind.HOME, PathKind.DEVICE}
# With one of these, `find` does not delete all that there is.
_NARROWS: Final = {"-name", "-iname", "-path", "-ipath", "-regex", "-newer", "-empty"}
_DELETES_ROOT: Final = high_risk("It deletes a whole root folder.")


def _written(call: ProgramCall, words: Iterable[ShellWord]) -> Verdict:
    return worst_verdict(judge_write(word.text, call.command.folder) for word in words)


def _write_all(call: ProgramCall) -> Verdict:
    valued = {"-s", "-r", "-m", "-d", "--mode", "--size", "--reference"}
    return _written(call, call.operands(valued))


def _write_last(call: ProgramCall) -> Verdict:
    """Judge a copy: the last argument is written."""
    operands = call.operands({*_INTO, "-m", "-o", "-g", "-S"})
    return _written(call, call.values_of(*_INTO) or operands[-1:])


def _move(call: ProgramCall) -> Verdict:
    return _written(call, [*call.operands({*_INTO, "-S"}), *call.values_of(*_INTO)])


def _unpack(call: ProgramCall) -> Verdict:
    return _written(call, call.values_of("-C", "--directory", "-d"))


def _copy_blocks(call: ProgramCall) -> Verdict:
    """Judge `dd`, whose arguments are `if=` and `of=`."""
    targets = [t.removeprefix("of=") for t in call.texts if t.startswith("of=")]
    return _written(call, map(ShellWord, targets))


def _edit_stream(call: ProgramCall) -> Verdict:
    if _SED_RUNS.search(" ".join(call.texts)):
        return high_risk("It has sed run commands.")
    if not call.has("-i", "--in-place"):
        return LOW_RISK
    scripts = {"-e", "--expression", "-f", "--file"}
    operands = call.operands(scripts)
    return _written(call, operands if call.values_of(*scripts) else operands[1:])


def _change_mode(call: ProgramCall) -> Verdict:
    mode, *targets = call.operands({"--reference"}) or [ShellWord("")]
    if _SETS_ID.match(mode.text):
        return high_risk("It lets a program run as somebody else.")
    foreign = [word for word in targets if _kind(call, word) not in _OWN]
    if foreign and call.has("-R", "--recursive"):
        return high_risk("It changes who may touch whole folders of the system.")
    return _written(call, foreign)


def _link(call: ProgramCall) -> Verdict:
    """Judge a link, through which a later write may leave the workspace."""
    operands = call.operands(_INTO)
    verdict = _written(call, operands[-1:] if len(operands) > 1 else [])
    if any(_kind(call, word) in _OUTSIDE for word in operands[:-1]):
        leads_out = medium_risk("It makes a link that leads outside.")
        return worst_verdict([verdict, leads_out])
    return verdict


def _kind(call: ProgramCall, word: ShellWord) -> PathKind:
    return kind_of_path(absolute(word.text, call.command.folder))


def _remove(call: ProgramCall) -> Verdict:
    """Judge the deletion of single files, or of all in a folder."""
    if call.has("--no-preserve-root"):
        return _DELETES_ROOT
    is_deep, folder = call.has("-r", "-R", "--recursive"), call.command.folder
    return worst_verdict(
        (judge_delete if is_deep or word.text.endswith("*") else judge_write)(
            word.text, folder
        )
        for word in call.operands()
    )


def _find(call: ProgramCall) -> Verdict:
    if "-delete" not in call.texts:
        return LOW_RISK
    found = f"/{UNKNOWN_PART}" if _NARROWS.intersection(call.texts) else ""
    starts = start_folders(call.command)
    return worst_verdict(
        judge_delete(f"{one}{found}", call.command.folder) for one in starts
    )


def _unless(harmless: str, otherwise: Verdict) -> ProgramRule:
    """Return a rule that lets pass what only shows something."""
    shows = names_in(harmless)
    return lambda call: LOW_RISK if shows.intersection(call.texts) else otherwise


def _kill(call: ProgramCall) -> Verdict:
    *_, last = call.texts or [""]
    if last in {"-1", "1", "0"} and not call.has("-l"):
        return high_risk("It ends every process.")
    return LOW_RISK


_LASTS: Final = high_risk("It has something run later by itself.")
_OUTER: Final = high_risk("It reaches for the machine around the sandbox.")
_TAR_RUNS: Final = high_risk("It has tar run commands.")

SYSTEM_RULES: Final[ProgramRules] = for_programs(
    ("git", _git),
    ("rm rmdir unlink shred", _remove),
    ("find", _find),
    ("dd", _copy_blocks),
    (
        """
        mkfs mke2fs mkswap wipefs fdisk sfdisk cfdisk parted sgdisk blkdiscard
        hdparm cryptsetup lvremove vgremove
        """,
        high_risk("It overwrites a disk or a file system."),
    ),
    ("tee touch mkdir truncate mkfifo", _write_all),
    ("cp install", _write_last),
    (
        "tar unzip bsdtar",
        first_match(("--checkpoint-action|--to-command", _TAR_RUNS), ("", _unpack)),
    ),
    ("chmod chown chgrp setfacl chattr", _change_mode),
    ("ln", _link),
    ("mv", _move),
    ("sed", _edit_stream),
    (
        """
        sudo doas su pkexec runuser setpriv capsh setcap newgrp passwd chpasswd
        visudo useradd usermod userdel groupadd adduser addgroup gpasswd
        """,
        high_risk("It gains rights that a test run does not need."),
    ),
    (
        """
        nsenter unshare chroot pivot_root mount umount insmod modprobe rmmod docker
        podman nerdctl ctr crictl runc buildah docker-compose kexec iptables
        ip6tables nft ufw bpftool
        """,
        _OUTER,
    ),
    ("at batch update-rc.d chkconfig launchctl systemd-run", _LASTS),
    ("shutdown reboot halt poweroff init telinit", high_risk("It stops the machine.")),
    ("pkill killall fuser", medium_risk("It ends processes by their name.")),
    ("crontab", _unless("-l", _LASTS)),
    ("systemctl", _unless("status list-units is-active show", _LASTS)),
    ("sysctl", _unless("-a -n", _OUTER)),
    ("kill", _kill),
)
