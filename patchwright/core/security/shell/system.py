"""The rules for programs that change files, rights, processes or the machine."""

import re
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
    always_risky,
    for_programs,
)
from patchwright.core.security.shell.wrappers import start_folders

# Four octal digits of which the first has the setuid or setgid bit, or `+s`.
_SETS_ID: Final = re.compile(r"(?:[ugo]*[+=][rwxXt]*s|0?[2467]\d{3}\Z)")
_INTO: Final = ("-t", "--target-directory")
_OWN: Final = {PathKind.REPOSITORY, PathKind.SCRATCH, PathKind.CI}


def _write_all(call: ProgramCall) -> Verdict:
    valued = {"-s", "-r", "-m", "-d", "--mode", "--size", "--reference"}
    return _written(call, [word.text for word in call.operands(valued)])


def _write_last(call: ProgramCall) -> Verdict:
    """Judge a copy: what stands last is written."""
    into = call.value_of(*_INTO)
    operands = [word.text for word in call.operands({*_INTO, "-m", "-o", "-g", "-S"})]
    return _written(call, [into] if into is not None else operands[-1:])


def _move(call: ProgramCall) -> Verdict:
    into = call.value_of(*_INTO)
    operands = [word.text for word in call.operands({*_INTO, "-S"})]
    return _written(call, [*operands, *([] if into is None else [into])])


def _edit_stream(call: ProgramCall) -> Verdict:
    script = " ".join(call.texts)
    if re.search(r"/[gip0-9]*e[gip]*(?:\s|;|$)|^\d*e\s", script):
        return high_risk("It has sed run commands.")
    if not call.has("-i", "--in-place"):
        return LOW_RISK
    scripts = {"-e", "--expression", "-f", "--file"}
    operands = [word.text for word in call.operands(scripts)]
    has_script = call.value_of(*scripts) is not None
    return _written(call, operands if has_script else operands[1:])


def _change_mode(call: ProgramCall) -> Verdict:
    operands = [w.text for w in call.operands({"--reference"})]
    if any(_SETS_ID.match(text) for text in operands[:1]):
        return high_risk("It lets a program run as somebody else.")
    return worst_verdict(_changed(call, target) for target in operands[1:])


def _changed(call: ProgramCall, target: str) -> Verdict:
    place = kind_of_path(absolute(target, call.command.folder))
    if place in _OWN:
        return LOW_RISK
    if call.has("-R", "--recursive"):
        return high_risk("It changes who may touch whole folders of the system.")
    return judge_write(target, call.command.folder)


def _unpack(call: ProgramCall) -> Verdict:
    if any(
        text.startswith(("--checkpoint-action", "--to-command")) for text in call.texts
    ):
        return high_risk("It has tar run commands.")
    into = call.values_of("-C", "--directory", "-d")
    return _written(call, [word.text for word in into])


def _written(call: ProgramCall, paths: list[str]) -> Verdict:
    return worst_verdict(judge_write(path, call.command.folder) for path in paths)


def _link(call: ProgramCall) -> Verdict:
    """Judge a link, through which a later write may leave the workspace."""
    operands = [word.text for word in call.operands(_INTO)]
    verdict = _written(call, operands[-1:] if len(operands) > 1 else [])
    outside = (kind_of_path(absolute(t, call.command.folder)) for t in operands[:-1])
    if any(
        place in {PathKind.SYSTEM, PathKind.HOME, PathKind.DEVICE} for place in outside
    ):
        return worst_verdict(
            [verdict, medium_risk("It makes a link that leads outside.")]
        )
    return verdict


FILE_RULES: Final[ProgramRules] = {
    **for_programs("tee touch mkdir truncate mkfifo", _write_all),
    **for_programs("cp install", _write_last),
    **for_programs("tar unzip bsdtar", _unpack),
    **for_programs("chmod chown chgrp setfacl chattr", _change_mode),
    "ln": _link,
    "mv": _move,
    "sed": _edit_stream,
}


# With one of these, `find` does not delete all that there is.
_NARROWS: Final = {"-name", "-iname", "-path", "-ipath", "-regex", "-newer", "-empty"}


def _remove(call: ProgramCall) -> Verdict:
    if call.has("--no-preserve-root"):
        return high_risk("It deletes a whole root folder.")
    is_deep = call.has("-r", "-R", "--recursive")
    judge = judge_delete if is_deep else _judge_one
    return worst_verdict(
        judge(word.text, call.command.folder) for word in call.operands()
    )


def _judge_one(path: str, folder: str) -> Verdict:
    """Judge the deletion of one file, or of all in a folder."""
    judge = judge_delete if path.endswith("*") else judge_write
    return judge(path, folder)


def _find(call: ProgramCall) -> Verdict:
    if "-delete" not in call.texts:
        return LOW_RISK
    is_narrow = any(text in _NARROWS for text in call.texts)
    found = f"/{UNKNOWN_PART}" if is_narrow else ""
    starts = start_folders(call.command)
    return worst_verdict(
        judge_delete(f"{one}{found}", call.command.folder) for one in starts
    )


def _copy_blocks(call: ProgramCall) -> Verdict:
    """Judge `dd`, whose arguments are `if=` and `of=`."""
    targets = [t.removeprefix("of=") for t in call.texts if t.startswith("of=")]
    return worst_verdict(judge_write(target, call.command.folder) for target in targets)


DELETION_RULES: Final[ProgramRules] = {
    **for_programs("rm rmdir unlink shred", _remove),
    "find": _find,
    "dd": _copy_blocks,
    **for_programs(
        "mkfs mke2fs mkswap wipefs fdisk sfdisk cfdisk parted sgdisk blkdiscard "
        "hdparm cryptsetup lvremove vgremove",
        always_risky("It overwrites a disk or a file system."),
    ),
}


_ALL_PROCESSES: Final = {"-1", "1", "0"}


def _unless(*harmless: str, why: str) -> ProgramRule:
    """Return a rule that lets pass what only shows something."""

    def judge(call: ProgramCall) -> Verdict:
        shows = any(text in harmless for text in call.texts)
        return LOW_RISK if shows else high_risk(why)

    return judge


def _kill(call: ProgramCall) -> Verdict:
    *_, last = call.texts or [""]
    if last in _ALL_PROCESSES and not call.has("-l"):
        return high_risk("It ends every process.")
    return LOW_RISK


def _kill_by_name(_: ProgramCall) -> Verdict:
    return medium_risk("It ends processes by their name.")


_LASTS: Final = "It has something run later by itself."
_OUTER: Final = "It reaches for the machine around the sandbox."

PRIVILEGE_RULES: Final[ProgramRules] = {
    **for_programs(
        "sudo doas su pkexec runuser setpriv capsh setcap newgrp passwd chpasswd "
        "visudo useradd usermod userdel groupadd adduser addgroup gpasswd",
        always_risky("It gains rights that a test run does not need."),
    ),
    **for_programs(
        "nsenter unshare chroot pivot_root mount umount insmod modprobe rmmod docker "
        "podman nerdctl ctr crictl runc buildah docker-compose kexec iptables "
        "ip6tables nft ufw bpftool",
        always_risky(_OUTER),
    ),
    **for_programs(
        "at batch update-rc.d chkconfig launchctl systemd-run", always_risky(_LASTS)
    ),
    **for_programs(
        "shutdown reboot halt poweroff init telinit",
        always_risky("It stops the machine."),
    ),
    **for_programs("pkill killall fuser", _kill_by_name),
    "crontab": _unless("-l", why=_LASTS),
    "systemctl": _unless("status", "list-units", "is-active", "show", why=_LASTS),
    "sysctl": _unless("-a", "-n", why=_OUTER),
    "kill": _kill,
}
