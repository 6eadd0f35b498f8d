"""Blot out secrets in a text that comes piece by piece."""

import re
from operator import itemgetter
from typing import Final

from patchwright.core.text.redaction import REDACTED, Redactor
from patchwright.core.text.token_formats import begin_of_word, rest_of_token

MAX_HELD: Final = 16_384
_LONGEST_TOKEN: Final = MAX_HELD // 2


class RedactedStream:
    """Hands a text on as soon as what is in it cannot be part of a secret any more.

    That is at the end of a word, as a rule. Together the pieces are what `redact` makes
    of the whole text, unless a word is longer than `MAX_HELD`: of such a one no more
    than that is looked at together.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""
        # What is left out of the text that comes, as it belongs to a secret.
        self._leave_out: re.Pattern[str] | None = None

    def feed(self, chunk: str) -> str:
        """Take the next piece of the text; return what may be seen of it now."""
        self._held += self._without_rest(chunk)
        cut = self._before_words(self._redactor.begin_unfinished(self._held))
        if len(self._held) - cut <= max(MAX_HELD, self._redactor.longest):
            return self._release(cut)
        return self._release_long(len(self._held) - _LONGEST_TOKEN)

    def close(self) -> str:
        """Return what was held back to the end."""
        return self._release(len(self._held))

    def _without_rest(self, chunk: str) -> str:
        if self._leave_out is None:
            return chunk
        rest = self._leave_out.match(chunk)
        if rest and rest.end() == len(chunk):
            return ""
        self._leave_out = None
        return chunk[rest.end() :] if rest else chunk

    def _before_words(self, cut: int) -> int:
        """Move the cut back to the begin of a word, and out of any secret."""
        cut = begin_of_word(self._held, cut)
        # From the last to the first: each is looked at once, wherever the cut moves.
        spans = self._redactor.spans(self._held)
        for begin, end in sorted(spans, key=itemgetter(1), reverse=True):
            if begin < cut < end:
                cut = begin_of_word(self._held, begin)
        return cut

    def _begin_of_secret_at(self, cut: int) -> int:
        spans = self._redactor.spans(self._held)
        return min((begin for begin, end in spans if begin < cut < end), default=cut)

    def _release_long(self, cut: int) -> str:
        begin = self._begin_of_secret_at(cut)
        if begin == cut:
            return self._release(cut)
        # It fills all that is held, whatever comes: the rest of it will not be missed.
        seen = self._release(begin)
        self._leave_out = rest_of_token(self._held)
        self._held = ""
        return seen + REDACTED

    def _release(self, cut: int) -> str:
        seen, self._held = self._held[:cut], self._held[cut:]
        return self._redactor.redact(seen)
