"""Blot out secrets in everything that is stored or sent."""

import json
import re
from collections.abc import Iterable
from typing import Self

from pydantic import JsonValue, SecretStr

from patchwright.core.text.secret_forms import forms_of
from patchwright.core.text.token_formats import (
    blot_tokens,
    find_tokens,
    may_hold_token,
)

# Shorter than any secret, so that a text shrinks with each round and comes to rest,
# even if blotting one secret brings the letters of another together.
BLOT = "[***]"


class Redactor:
    """Knows some secrets by value, and any credential of a well-known format.

    Redacting a redacted text changes nothing. Secrets of less than six characters are
    left alone. A text without secrets costs a few plain searches.
    """

    def __init__(self, secrets: Iterable[SecretStr | str] = ()) -> None:
        self._secrets = frozenset(
            s.get_secret_value() if isinstance(s, SecretStr) else s for s in secrets
        )
        forms = frozenset[str]().union(*map(forms_of, self._secrets))
        self._forms = sorted(forms, key=lambda form: (-len(form), form))
        self._escaped = sorted(forms | {_escape(form) for form in forms})
        self._known = re.compile("|".join(map(re.escape, self._forms)) or r"(?!)")

    @property
    def longest(self) -> int:
        """The length of the longest form that is known by value."""
        return len(self._forms[0]) if self._forms else 0

    def with_more(self, secrets: Iterable[SecretStr | str]) -> Self:
        """Return a redactor that knows these secrets as well."""
        return type(self)([*self._secrets, *secrets])

    def redact(self, text: str) -> str:
        cleaner = self._blot(text)
        while cleaner != text:
            text, cleaner = cleaner, self._blot(cleaner)
        return text

    def redact_json(self, value: JsonValue) -> JsonValue:
        """Redact every string of a JSON tree, keys included."""
        text = json.dumps(value, ensure_ascii=False)
        if not (_is_any_in(self._escaped, text) or may_hold_token(text)):
            return value
        return self._redact_tree(value)

    def cut_before_secret(self, text: str, at: int) -> int:
        """Return the last place up to `at` that does not lie inside a secret."""
        known = [match.span() for match in self._known.finditer(text)]
        for start, end in sorted([*known, *find_tokens(text)], reverse=True):
            if start < at < end:
                at = start
        return at

    def _blot(self, text: str) -> str:
        # One pass of a large pattern costs more than all the plain searches.
        if _is_any_in(self._forms, text):
            text = self._known.sub(BLOT, text)
        return blot_tokens(text, BLOT)

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


class StreamRedactor:
    """Redacts a text that comes in chunks, holding back what may still be a secret."""

    def __init__(self, redactor: Redactor, max_secret_chars: int = 4096) -> None:
        self._redactor = redactor
        self._hold = max(redactor.longest, max_secret_chars)
        self._held = ""

    def feed(self, chunk: str) -> str:
        """Return what can be shown by now."""
        text = self._held + chunk
        at = self._redactor.cut_before_secret(text, max(0, len(text) - self._hold))
        self._held = text[at:]
        return self._redactor.redact(text[:at])

    def close(self) -> str:
        """Return the rest."""
        rest, self._held = self._held, ""
        return self._redactor.redact(rest)


def _is_any_in(forms: list[str], text: str) -> bool:
    return any(form in text for form in forms)


def _escape(form: str) -> str:
    return json.dumps(form, ensure_ascii=False)[1:-1]
