"""Read addresses and names of repositories from settings."""

import ipaddress
import re
from functools import lru_cache
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


def read_networks(value: tuple[str, ...]) -> tuple[str, ...]:
    """Check that each is an address or a network of them, as 10.0.0.0/8."""
    for one in value:
        try:
            ipaddress.ip_network(one)
        except ValueError as error:
            raise ValueError(
                f"{one}: expected an address or a network, such as 10.0.0.0/8"
            ) from error
    return value


@lru_cache(maxsize=4096)
def is_among(networks: tuple[str, ...], address: str) -> bool:
    """Tell whether an address is one of these; what is no address is none of them."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(found in ipaddress.ip_network(one) for one in networks)
