"""Say our texts in GitLab's words, and let it act on nothing in them.

All that is written there goes through `as_note` or `as_title`, so that no message of
the bot's has to know the service it is for.
"""

import re
from collections.abc import Iterator
from typing import Final

from patchwright.core.text.markdown import PieceKind, read_markdown
from patchwright.core.text.strings import truncate_middle

# https://docs.gitlab.com/administration/instance_limits/#size-of-comments-and-descriptions-of-issues-merge-requests-and-epics
MAX_CHARS: Final = 1_000_000
MAX_TITLE_CHARS: Final = 255
# How GitLab marks a draft: there is no field for it.
# https://docs.gitlab.com/user/project/merge_requests/drafts/
DRAFT: Final = "Draft: "
_DRAFT_MARKS: Final = re.compile(
    r"^\s*(?:draft:|\[draft\]|\(draft\)|draft - )\s*", re.IGNORECASE
)

_REQUEST: Final = re.compile(r"\b([Pp])ull(?=\s+[Rr]equests?\b)")
_MERGE: Final = {"p": "merge", "P": "Merge"}
# What people or services have said stays as it is.
_QUOTED: Final = re.compile(
    r"^ {0,3}>.*$|“[^”\n]*”|<!--[\s\S]*?-->|<[^<>\n]*>", re.MULTILINE
)
_CODE: Final = frozenset({PieceKind.CODE, PieceKind.FENCE})
# A line that is a command to GitLab, which follows it with our rights.
# https://docs.gitlab.com/user/project/quick_actions/
_COMMAND: Final = re.compile(r"^/(?=[A-Za-z_]+(?:[ \t]|$))", re.MULTILINE)


def as_note(text: str) -> str:
    """Return a text of ours as it is sent: a comment or a description."""
    return truncate_middle(_without_commands(in_own_words(text)), MAX_CHARS)


def as_title(title: str, *, draft: bool) -> str:
    """Return a title that says whether it is a draft, by that alone."""
    plain = without_draft(title)
    return f"{DRAFT if draft else ''}{plain}"[:MAX_TITLE_CHARS]


def without_draft(title: str) -> str:
    """Return a title without the marks of a draft; there may be several."""
    while (plain := _DRAFT_MARKS.sub("", title, count=1)) != title:
        title = plain
    return title


def in_own_words(text: str) -> str:
    """Return it with merge requests for pull requests, but not in code and quotations.

    What a quotation has inside quotation marks or behind `>` was said by somebody.
    """
    if not _REQUEST.search(text):
        return text
    source = read_markdown(text)
    kept = [(one.start, one.end) for one in source.pieces if one.kind in _CODE]
    kept += [match.span() for match in _QUOTED.finditer(source.text)]

    def renamed(found: re.Match[str]) -> str:
        is_kept = any(start <= found.start() < end for start, end in kept)
        return found[0] if is_kept else _MERGE[found[1]]

    return _REQUEST.sub(renamed, source.text)


def _without_commands(text: str) -> str:
    """Return a text of which no line is a command, and which reads the same.

    GitLab does not take every fence for one that Markdown takes, so that code is not
    safe either; there a blank stands before the line.
    """
    if not _COMMAND.search(text):
        return text
    source = read_markdown(text)
    code = [(one.start, one.end) for one in source.pieces if one.kind in _CODE]
    return "".join(_escaped_parts(source.text, code))


def _escaped_parts(text: str, code: list[tuple[int, int]]) -> Iterator[str]:
    done = 0
    for found in _COMMAND.finditer(text):
        yield text[done : found.start()]
        is_code = any(start <= found.start() < end for start, end in code)
        yield " /" if is_code else "\\/"
        done = found.end()
    yield text[done:]
