"""Blot out secrets in everything that is stored or sent."""

import json
import re
from collections.abc import Iterable

from pydantic import JsonValue, SecretStr

from patchwright.core.text.secret_forms import forms_of
from patchwright.core.text.token_formats import (
    blot_tokens,
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
        known = (
            s.get_secret_value() if isinstance(s, SecretStr) else s for s in secrets
        )
        forms = frozenset[str]().union(*map(forms_of, known))
        self._forms = sorted(forms, key=lambda form: (-len(form), form))
        self._escaped = sorted(forms | {_escape(form) for form in forms})
        self._known = re.compile("|".join(map(re.escape, self._forms)) or r"(?!)")

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


def _is_any_in(forms: list[str], text: str) -> bool:
    return any(form in text for form in forms)


def _escape(form: str) -> str:
    return json.dumps(form, ensure_ascii=False)[1:-1]
