"""The rules for what deletes, and for what cannot be undone."""

from typing import Final

from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.paths import SOMETHING, judge_delete, judge_write
from patchwright.core.security.shell.call import Call, Rule, Rules
from patchwright.core.security.verdicts import LOW, high, medium, worst

_FIND_VALUED: Final = {
    "-name", "-iname", "-path", "-ipath", "-type", "-mtime", "-mmin", "-size", "-newer",
    "-maxdepth", "-mindepth", "-regex", "-user", "-group", "-perm", "-wholename",
}  # fmt: skip
_NARROWS: Final = {"-name", "-iname", "-path", "-ipath", "-regex", "-newer", "-empty"}
_FIND_RUNS: Final = {"-exec", "-execdir", "-ok", "-okdir"}


def _remove(call: Call) -> Verdict:
    if call.has("--no-preserve-root"):
        return high("It deletes a whole root folder.")
    if not call.has("-r", "-R", "--recursive"):
        return worst(_judge_one(call, word.text) for word in call.operands())
    folder = call.command.folder
    return worst(_judge_tree(word.text, folder) for word in call.operands())


def _judge_one(call: Call, path: str) -> Verdict:
    """Judge the deletion of one file: as careful as with the change of one."""
    if path.endswith("*") or "/.git" in f"/{path}":
        return judge_delete(path, call.command.folder)
    return judge_write(path, call.command.folder)


def _judge_tree(path: str, folder: str) -> Verdict:
    if path.startswith(SOMETHING):
        return medium("It deletes a folder whose name is only known when it is run.")
    return judge_delete(path, folder)


def _find(call: Call) -> Verdict:
    starts = _starts(call)
    verdicts = [LOW]
    if "-delete" in call.texts:
        narrowed = any(text in _NARROWS for text in call.texts)
        sample = f"/{SOMETHING}found" if narrowed else ""
        folder = call.command.folder
        verdicts += [judge_delete(f"{start}{sample}", folder) for start in starts]
    return worst(verdicts)


def _starts(call: Call) -> list[str]:
    """Return the folders that `find` starts at."""
    texts = call.texts
    ends = (at for at, text in enumerate(texts) if text[:1] in {"-", "(", "!"})
    return texts[: next(ends, len(texts))] or ["."]


def _irreversible(why: str) -> Rule:
    return lambda _: high(why)


def _copy_blocks(call: Call) -> Verdict:
    """Judge `dd`, whose arguments are `if=` and `of=`."""
    targets = [t.removeprefix("of=") for t in call.texts if t.startswith("of=")]
    return worst(judge_write(target, call.command.folder) for target in targets)


_DISK: Final = _irreversible("It overwrites a disk or a file system.")

RULES: Final[Rules] = {
    "rm": _remove,
    "rmdir": _remove,
    "unlink": _remove,
    "shred": _remove,
    "find": _find,
    "dd": _copy_blocks,
    **dict.fromkeys(
        (
            "mkfs mke2fs mkswap wipefs fdisk sfdisk cfdisk parted sgdisk blkdiscard "
            "hdparm cryptsetup lvremove vgremove"
        ).split(),
        _DISK,
    ),
}


def is_make_file_system(name: str) -> bool:
    return name.startswith("mkfs.")
