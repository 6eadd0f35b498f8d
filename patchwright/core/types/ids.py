"""Names for identifiers, and where new ones come from."""

import uuid
from typing import NewType, Protocol

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
