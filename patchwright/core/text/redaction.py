"""Blot out secrets in everything that is stored or sent."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

from pydantic import JsonValue, SecretStr

from patchwright.core.text.needles import StringMatcher
from patchwright.core.text.secret_forms import digits_of_secret, forms_of_secret, secret_lines
from patchwright.core.text.spread_secrets import SpreadSecrets, begin_of
from patchwright.core.text.token_formats import (
    begin_unfinished_token,
    redact_tokens,
    may_hold_token,
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
        yield from (match.span() for match in self._known.finditer(text))
        yield from token_spans(text)
        yield from self._spread.find(text)
        # A token may be known as one only where a secret that touches it is blotted.
        yield from token_spans(self._known.sub(_filler, text))

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


def _filler(secret: re.Match[str]) -> str:
    return "\0" * len(secret[0])


def _escape(form: str) -> str:
    return json.dumps(form, ensure_ascii=False)[1:-1]
