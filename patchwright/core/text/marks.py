"""Our own marks in a text: what machines read, and who is called by it."""

import re
from typing import Final
from urllib.parse import quote

from patchwright.core.types.base import Value

_BEGIN: Final = "<!-- patchwright:"
# None of ours has another comment in it; so no text is searched twice.
_MARK: Final = re.compile(rf"{_BEGIN}[^\n<]*? -->")
_STATE: Final = re.compile(r"patchwright:state=([a-z-]+) run=(\S+) -->")
# A link to this calls a person on a service that has ids for people. It is ours alone:
# see `without_calls`.
MENTION_LINK: Final = "patchwright-call:"


class Marked(Value):
    """A text without its marks, and these as they were written."""

    text: str
    marks: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """Return the state of the run that the text shows, or an empty string."""
        found = next(filter(None, map(_STATE.search, self.marks)), None)
        return found[1] if found else ""

    @property
    def run_id(self) -> str:
        found = next(filter(None, map(_STATE.search, self.marks)), None)
        return found[2] if found else ""

    @property
    def name(self) -> str:
        """Return what is in every form of this post and in no other one of ours."""
        if self.run_id:
            return f"run={self.run_id} -->"
        return self.marks[-1] if self.marks else ""


def split_marks(text: str) -> Marked:
    """Take our marks out of a text that we wrote."""
    marks = tuple(_MARK.findall(text))
    return Marked(text=_MARK.sub("", text).strip() if marks else text, marks=marks)


def plain_name(name: str) -> str:
    """Return what somebody calls themselves, without what would be markup in it."""
    return re.sub(r"[\\\[\]`*_<>]", "", name)


def mention_link(name: str, person_id: str) -> str:
    """Call somebody: a link for a channel to make a mention of."""
    return f"[@{plain_name(name) or 'you'}]({MENTION_LINK}{quote(person_id, safe=':@')})"


def without_mentions(text: str) -> str:
    """Return somebody else's text so that it calls nobody."""
    # A blank of no width ends the name of the scheme.
    return re.sub(re.escape(MENTION_LINK), f"{MENTION_LINK[:-1]}\u200b:", text, flags=re.IGNORECASE)


def without_mentions_and_marks(text: str) -> str:
    """Return somebody else's text so that it calls nobody and has no mark of ours."""
    return without_mentions(text).replace(_BEGIN, _BEGIN.replace("<!", "<\u200b!"))
