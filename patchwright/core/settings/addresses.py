"""Read addresses and names of repositories from settings."""

import re
from typing import Final

_ADDRESS: Final = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?\Z")
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+\Z")


def is_address(value: str) -> bool:
    return _ADDRESS.match(value) is not None


def read_address(value: str) -> str:
    if not is_address(value):
        raise ValueError("expected an address such as https://HOST/path")
    return value.rstrip("/")


def read_repositories(value: dict[str, str]) -> dict[str, str]:
    """Check that each value is `owner/name`, or empty."""
    for key, repository in value.items():
        if repository and not _REPOSITORY.match(repository):
            raise ValueError(f"{key}: expected a repository such as owner/name")
    return value
