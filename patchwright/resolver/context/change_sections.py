"""Show the agent what a pull request changes, and which checks have failed."""

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from patchwright.core.forge import Checks, FailedCheck
from patchwright.core.text.escape import as_data
from patchwright.core.text.hidden import TextCleaner
from patchwright.core.text.strings import count_noun, normalise_text, truncate_middle
from patchwright.resolver.context.context import PullDiff, TaskSection

MAX_DIFF_CHARS: Final = 48_000
LEAST_FILE_CHARS: Final = 400
MAX_PATHS: Final = 1_000
DIFF_FILE: Final = "pull_request.diff"
PATHS_FILE: Final = "pull_request.files"

_FILE_HEAD = re.compile(r"^(?=diff --git )", re.MULTILINE)


def changes_section(diff: PullDiff | None, cleaner: TextCleaner) -> TaskSection:
    """Write down which files it changes, all of them, and how, the largest cut."""
    if diff is None:
        return TaskSection()
    paths = [cleaner.clean_name(path) for path in diff.paths]
    files = [one for one in _FILE_HEAD.split(cleaner.clean_code(diff.text)) if one]
    shown = cut_to_fit(files)
    is_whole = shown == files and bool(diff.text or not paths)
    base, head = (cleaner.clean_name(n) for n in (diff.base_branch, diff.head_branch))
    intro = (
        f"The pull request is to bring {count_noun(len(paths), 'changed file')} into "
        "its base. Base, head, files and patch, against the commit where it left the "
        f"base ({diff.merge_base[:12]}):"
    )
    parts = [
        intro,
        as_data("branches", "git", f"base: {base}\nhead: {head}"),
        as_data("changed files", "git", "\n".join(paths[:MAX_PATHS])),
        _more_files_line(len(paths) - MAX_PATHS),
        as_data("diff", "git", "".join(shown)) if shown else "",
        "" if is_whole else _whole_patch_line(diff),
    ]
    text = "\n\n".join(part for part in parts if part)
    return TaskSection(
        text=text, files=_context_files(diff, files, paths, is_whole=is_whole)
    )


def cut_to_fit(files: Sequence[str], max_chars: int = MAX_DIFF_CHARS) -> list[str]:
    """Return the files' parts of a patch, each cut to the same bound if need be.

    So the largest lose most. Of very many files those at the end are left out.
    """
    room, left = max_chars, len(files)
    for size in sorted(map(len, files)):
        if size * left > room:
            break
        room, left = room - size, left - 1
    if not left:
        return list(files)
    bound = max(room // left, LEAST_FILE_CHARS)
    shown: list[str] = []
    for file in files:
        part = file if len(file) <= bound else f"{truncate_middle(file, bound - 1)}\n"
        max_chars -= len(part)
        if max_chars < 0:
            break
        shown.append(part)
    return shown


def _more_files_line(missing: int) -> str:
    if missing <= 0:
        return ""
    where = f"/workspace/context/{PATHS_FILE}"
    return f"{count_noun(missing, 'more file')}; all of them are in {where}."


def _whole_patch_line(diff: PullDiff) -> str:
    if diff.text:
        return f"The whole patch is in /workspace/context/{DIFF_FILE}."
    return "The patch is too large to be shown; `git diff` in the checkout has it."


def _context_files(
    diff: PullDiff, files: Sequence[str], paths: Sequence[str], *, is_whole: bool
) -> dict[str, str]:
    kept = {} if is_whole or not diff.text else {DIFF_FILE: "".join(files)}
    if len(paths) > MAX_PATHS:
        kept[PATHS_FILE] = "\n".join(paths)
    return kept


MAX_SUMMARY_CHARS: Final = 2_000
MAX_LOG_CHARS: Final = 6_000
MAX_CHECKS: Final = 5
CHECKS_FILE: Final = "checks.md"

# Ids of commits, objects and caches; where in a file, and how much of everything:
# none of that makes another failure. What failed, and how, has words.
_NOISE: Final = re.compile(
    r"\b[0-9a-f]{7,64}\b"
    r"|(?<=:)\d+\b|\b(?:line|lines|L) ?\d+\b"
    r"|\b\d+(?:[.,]\d+)? ?(?:lines?|bytes|[kKMG]i?B|B|%|passed|skipped|deselected"
    r"|warnings?|files?|tests?|items?)(?!\w)"
)
_BLANKS: Final = re.compile(r"\s+")


def checks_section(checks: Checks, cleaner: TextCleaner) -> TaskSection:
    """Write down what failed, the end of each log; what others printed is data."""
    if not checks.failed:
        return TaskSection()
    cleaned = [_clean_check(check, cleaner) for check in checks.failed]
    shown = cleaned[:MAX_CHECKS]
    whole = len(shown) == len(cleaned) and not any(map(_is_long_check, shown))
    parts = [
        _checks_summary(cleaned),
        *(_check_text(check) for check in shown),
        "" if whole else f"All of them, whole: /workspace/context/{CHECKS_FILE}.",
    ]
    return TaskSection(
        text="\n\n".join(part for part in parts if part),
        files={} if whole else {CHECKS_FILE: _checks_transcript(cleaned)},
    )


def fingerprint(checks: Checks) -> str:
    """Return what is the same for the same failures, whenever and wherever they ran."""
    parts = sorted(
        f"{check.name}\n{_without_noise(check.log or check.summary)}"
        for check in checks.failed
    )
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _without_noise(text: str) -> str:
    return _BLANKS.sub(" ", _NOISE.sub("~", normalise_text(text))).strip()


def _clean_check(check: FailedCheck, cleaner: TextCleaner) -> FailedCheck:
    return check.replace(
        name=cleaner.clean_code(check.name),
        summary=cleaner.clean(check.summary),
        log=cleaner.clean_code(check.log),
    )


def _is_long_check(check: FailedCheck) -> bool:
    return len(check.summary) > MAX_SUMMARY_CHARS or len(check.log) > MAX_LOG_CHARS


def _checks_summary(failed: Sequence[FailedCheck]) -> str:
    return (
        "On the newest commit of this pull request, "
        f"{count_noun(len(failed), 'check')} failed. They ran outside your sandbox; "
        "find the cause and make sure of it here before you change anything."
    )


def _check_text(check: FailedCheck) -> str:
    summary = truncate_middle(check.summary, MAX_SUMMARY_CHARS)
    parts = [
        as_data("failed check", "the checks", f"{check.name}\n{summary}".strip()),
        as_data("end of its log", "the checks", _log_end(check.log))
        if check.log
        else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _log_end(log: str) -> str:
    """Keep the end, which has the failure."""
    if len(log) <= MAX_LOG_CHARS:
        return log
    return f"[... cut ...]\n{log[-MAX_LOG_CHARS:]}"


def _checks_transcript(failed: Sequence[FailedCheck]) -> str:
    return "\n\n".join(
        "\n\n".join(
            part
            for part in (f"## {check.name}", check.url, check.summary, check.log)
            if part
        )
        for check in failed
    )
