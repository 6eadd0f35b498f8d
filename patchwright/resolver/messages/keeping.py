"""Update a pull request's texts without losing what people wrote in them."""

import hashlib
import re
from typing import Final

from patchwright.core.forge import PullRequestText
from patchwright.core.types.base import Value
from patchwright.core.types.threads import PullRequest

MAX_CHARS: Final = 65_536
_END: Final = "<!-- patchwright:end -->"
_MARKED: Final = re.compile(
    r"<!-- patchwright:body text=(?P<text>\w+) title=(?P<title>\w+) -->\n"
    rf"(?P<ours>.*?)\n{re.escape(_END)}",
    re.DOTALL,
)
_DIGITS: Final = 12


class PeoplesText(Value):
    """What people say in a pull request, around what we say."""

    before: str = ""
    after: str = ""
    title: str = ""

    @property
    def size(self) -> int:
        return len(self.before) + len(self.after)


def find_peoples_text(pull: PullRequest) -> PeoplesText:
    """Tell people's words from ours.

    Our own text stands between two marks, and the first of them knows how it and the
    title were when we wrote them: where either is another one now, a person has
    written it. A text without marks is theirs.
    """
    # A browser sends a text back with other line ends.
    body = pull.body.replace("\r\n", "\n")
    found = _MARKED.search(body)
    if found is None:
        return PeoplesText(before=body.strip())
    before, after = body[: found.start()].strip(), body[found.end() :].strip()
    if _digest(found["ours"]) != found["text"]:
        before = "\n\n".join(part for part in (before, found["ours"].strip()) if part)
    ours_still = _digest(pull.title) == found["title"]
    return PeoplesText(before=before, after=after, title="" if ours_still else pull.title)


def mark_own_text(text: PullRequestText) -> PullRequestText:
    """Put our marks around a text, for the time when we come back to it."""
    body = f"\n{text.body.strip()}\n"
    start = f"text={_digest(body)} title={_digest(text.title)}"
    marked = f"<!-- patchwright:body {start} -->\n{body}\n{_END}"
    return text.replace(body=marked)


def combine_texts(marked: PullRequestText, kept: PeoplesText) -> PullRequestText:
    """Put our text between what people wrote; theirs alone where both are too long."""
    parts = (kept.before, marked.body, kept.after)
    body = "\n\n".join(part for part in parts if part)
    if len(body) > MAX_CHARS:
        body = "\n\n".join(part for part in (kept.before, kept.after) if part)
    return marked.replace(title=kept.title or marked.title, body=body[:MAX_CHARS])


def _digest(text: str) -> str:
    words = " ".join(text.split())
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
