"""The redaction of secrets in all that is stored or sent, at once or piece by piece."""

import json
import re
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Final

from pydantic import JsonValue, SecretStr

from patchwright.core.text.secret_forms import (
    SpreadSecrets,
    begin_of,
    digits_of_secret,
    forms_of_secret,
    secret_lines,
)
from patchwright.core.text.token_formats import (
    StringMatcher,
    begin_of_word,
    begin_unfinished_token,
    find_tokens,
    may_hold_token,
    redact_tokens,
    rest_of_token,
    token_spans,
)

# Shorter than any secret, so that a text shrinks with each round and comes to rest,
# even if blotting one secret brings the letters of another together.
REDACTED = "[***]"
# What is not one secret inside another is at rest after two or three.
_MAX_ROUNDS: Final = 6


class Redactor:
    """Knows some secrets by value, and any credential of a well-known format.

    Redacting a redacted text changes nothing. Secrets of less than six characters are
    left alone. A text without secrets costs a few plain searches.
    """

    def __init__(self, secrets: Iterable[SecretStr | str] = ()) -> None:
        values = [
            s.get_secret_value() if isinstance(s, SecretStr) else s for s in secrets
        ]
        forms = frozenset[str]().union(*map(forms_of_secret, values))
        self._forms = sorted(forms, key=lambda form: (-len(form), form))
        self._known = re.compile("|".join(map(re.escape, self._forms)) or r"(?!)")
        self.longest = max(map(len, forms), default=0)
        digits = frozenset[str]().union(*map(digits_of_secret, values))
        spoken = frozenset[str]().union(*map(secret_lines, values))
        self._spread = SpreadSecrets(spoken, forms, digits)
        self._in_text = StringMatcher(forms)
        self._in_json = StringMatcher(forms | {_escape(form) for form in forms})

    def redact(self, text: str) -> str:
        rest = self._at_rest(text)
        if rest is None:
            # Nobody nests secrets so deep by chance: these lines are lost, none leaks.
            lines = (self._at_rest(line) for line in text.split("\n"))
            rest = self._at_rest("\n".join(REDACTED if x is None else x for x in lines))
        return REDACTED if rest is None else rest

    def redact_json(self, value: JsonValue) -> JsonValue:
        """Redact every string of a JSON tree, keys included."""
        text = json.dumps(value, ensure_ascii=False)
        is_plain = self._in_json.any_in(text) or may_hold_token(text)
        if not (is_plain or self._spread.may_be_in_json(text)):
            return value
        return self._redact_tree(value)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield from where to where the secrets in a text go, in no order."""
        found = [match.span() for match in self._known.finditer(text)]
        found += [*self._spread.find(text), *find_tokens(text)]
        yield from found
        yield from token_spans(text)
        # A token may be known as one only where a secret that touches it is blotted.
        yield from token_spans(_fill_spans(text, found))

    def find_known(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield from where to where the secrets go that are known by value."""
        if self._in_text.any_in(text):
            yield from (match.span() for match in self._known.finditer(text))

    def begin_unfinished(self, text: str) -> int:
        """Return where a secret may begin that the text ends in the middle of.

        It is the text's length if none can.
        """
        known = (begin_of(form, text) for form in self._forms)
        spread = self._spread.begin_unfinished(text)
        return min(begin_unfinished_token(text), *known, spread)

    def _at_rest(self, text: str) -> str | None:
        """Return the text when nothing in it changes any more.

        It is None where each blot uncovers another secret: a text of n characters could
        take n rounds.
        """
        for _ in range(_MAX_ROUNDS):
            cleaner = self._redact_text(text)
            if cleaner == text:
                return text
            text = cleaner
        return None

    def _redact_text(self, text: str) -> str:
        # One pass of a large pattern costs more than all the plain searches.
        if self._in_text.any_in(text):
            text = self._known.sub(REDACTED, text)
        if spread := sorted(self._spread.find(text)):
            text = _redact_spans(text, spread)
        return redact_tokens(text, REDACTED)

    def _redact_tree(self, value: JsonValue) -> JsonValue:
        match value:
            case str():
                return self.redact(value)
            case list():
                return [self._redact_tree(item) for item in value]
            case dict():
                return {
                    self.redact(key): self._redact_tree(item)
                    for key, item in value.items()
                }
            case _:
                return value


def _redact_spans(text: str, spans: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    done = 0
    for begin, end in spans:
        if begin >= done:
            parts += [text[done:begin], REDACTED]
        done = max(done, end)
    return "".join([*parts, text[done:]])


def _fill_spans(text: str, spans: list[tuple[int, int]]) -> str:
    """Blot without moving what comes after."""
    parts: list[str] = []
    done = 0
    for begin, end in sorted(spans):
        parts += [text[done:begin], "\0" * (end - max(begin, done))]
        done = max(done, end)
    return "".join([*parts, text[done:]])


def _escape(form: str) -> str:
    return json.dumps(form, ensure_ascii=False)[1:-1]


MAX_HELD: Final = 16_384
_LONGEST_TOKEN: Final = MAX_HELD // 2


class RedactedStream:
    """Passes a text on as soon as it cannot be part of a secret any more.

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
