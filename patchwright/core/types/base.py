"""The base of all values, with identifiers and readable text."""

import re
import uuid
from typing import Annotated, Final, Never, NewType, Protocol, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict


class Replaceable(BaseModel):
    """A model of which a changed copy can be made."""

    def replace(self, **changes: Never) -> Self:
        """Return a copy with other values in the fields that are named.

        Nothing is validated again: `scripts/mypy_replace.py` gives each class its own
        signature, with its fields as keywords. Without it, no keyword fits.
        """
        if not changes.keys() <= self.__dict__.keys():
            unknown = ", ".join(sorted(changes.keys() - self.__dict__.keys()))
            raise TypeError(f"{type(self).__name__} has no field {unknown}")
        return self.model_copy(update=changes)


class Value(Replaceable):
    """A frozen value with a JSON form.

    Unknown fields are dropped when one is read, so that an older worker survives a
    newer log.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")


AccountId = NewType("AccountId", str)
ConversationId = NewType("ConversationId", str)
JobId = NewType("JobId", str)


class Ids(Protocol):
    """Where new identifiers come from; tests pass a counted one."""

    def new(self) -> str: ...


class RandomIds:
    """Identifiers of 128 random bits, as 32 hexadecimal digits."""

    def new(self) -> str:
        return uuid.uuid4().hex  # noqa: TID251 - this is the one source of them


# Git, PostgreSQL and XML refuse some of these, and nobody reads any of them.
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LINE_END: Final = re.compile(r"\r\n?|[\u2028\u2029]")
_HALF: Final = re.compile(r"[\ud800-\udfff]")


def readable(text: str) -> str:
    """Return the text without control characters, its lines ended by a line feed.

    Half of a surrogate pair, which is no character, becomes U+FFFD.
    """
    whole = _HALF.sub("\N{REPLACEMENT CHARACTER}", text)
    return _CONTROLS.sub("", _LINE_END.sub("\n", whole))


def _read(value: object) -> object:
    return readable(value) if isinstance(value, str) else value


# A control character in what the agent says must not cost its work.
ReadableText = Annotated[str, BeforeValidator(_read)]
