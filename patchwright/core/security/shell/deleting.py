"""The rules for what deletes, and for what cannot be undone."""

from typing import Final

from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.paths import UNKNOWN_PART, judge_delete, judge_write
from patchwright.core.security.shell.call import ProgramCall, ProgramRules, always_risky, for_programs
from patchwright.core.security.shell.unwrap import start_folders
from patchwright.core.security.verdicts import LOW_RISK, high_risk, worst_verdict

# With one of these, `find` does not delete all that there is.
_NARROWS: Final = {"-name", "-iname", "-path", "-ipath", "-regex", "-newer", "-empty"}


def _remove(call: ProgramCall) -> Verdict:
    if call.has("--no-preserve-root"):
        return high_risk("It deletes a whole root folder.")
    is_deep = call.has("-r", "-R", "--recursive")
    judge = judge_delete if is_deep else _judge_one
    return worst_verdict(judge(word.text, call.command.folder) for word in call.operands())


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
    return worst_verdict(judge_delete(f"{one}{found}", call.command.folder) for one in starts)


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
