"""What the fake GitHub knows of the files that people upload into their texts."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """An upload by its UUID; `repo` is where it was made, and decides who sees it."""

    id: str
    repo: str
    data: bytes
