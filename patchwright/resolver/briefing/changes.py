"""Show the agent what a pull request changes."""

import re
from collections.abc import Sequence
from typing import Final

from patchwright.core.text.cleaner import TextCleaner
from patchwright.core.text.cut import truncate_middle
from patchwright.core.text.fence import as_data
from patchwright.resolver.context import PullDiff
from patchwright.resolver.messages.facts import count_noun
from patchwright.resolver.section import TaskSection

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
        f"The pull request is to bring {count_noun(len(paths), 'changed file')} into its "
        "base. Base, head, files and patch, against the commit where it left the base "
        f"({diff.merge_base[:12]}):"
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
    return TaskSection(text=text, files=_context_files(diff, files, paths, is_whole=is_whole))


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
