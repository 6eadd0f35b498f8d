"""Whether webhooks can arrive at an address, as far as the address itself tells."""

import ipaddress
from enum import StrEnum
from typing import Final, assert_never
from urllib.parse import urlsplit

# https://www.rfc-editor.org/rfc/rfc2606, https://www.rfc-editor.org/rfc/rfc6761
_PLACEHOLDERS: Final = (
    "example",
    "example.com",
    "example.net",
    "example.org",
    "invalid",
    "test",
)
_PLACEHOLDER_NAMES: Final = frozenset({"host", "your-host"})
# https://www.rfc-editor.org/rfc/rfc6762#appendix-G and what ICANN keeps for this use.
_PRIVATE_NAMES: Final = ("home.arpa", "internal", "intranet", "lan", "local")


class AddressProblem(StrEnum):
    """Why no webhook arrives there."""

    MISSING = "missing"
    PLACEHOLDER = "placeholder"
    LOOPBACK = "loopback"
    PRIVATE = "private"


def find_address_problem(
    public_url: str, sender_url: str, *, sender_is_own: bool
) -> AddressProblem | None:
    """Return why the sender of webhooks cannot reach an address, None if it may.

    A sender that is a server of one's own, such as GitHub Enterprise Server, may be in
    the same private network. Only one on this machine can reach a loopback address.
    Names are judged by their form and are not resolved.
    """
    host = urlsplit(public_url).hostname or ""
    problem = _judge_host(host)
    match problem:
        case None | AddressProblem.MISSING | AddressProblem.PLACEHOLDER:
            return problem
        case AddressProblem.PRIVATE:
            return None if sender_is_own else problem
        case AddressProblem.LOOPBACK:
            sender = _judge_host(urlsplit(sender_url).hostname or "")
            is_here = sender_is_own and sender is AddressProblem.LOOPBACK
            return None if is_here else problem
        case _:
            assert_never(problem)


def describe_address_problem(problem: AddressProblem, public_url: str) -> str:
    """Return a sentence about the address; `public_url` is not said if it is missing.

    >>> describe_address_problem(AddressProblem.LOOPBACK, "http://localhost:8080")
    'http://localhost:8080 is an address of this machine only.'
    """
    match problem:
        case AddressProblem.MISSING:
            return "server.public_url is not set."
        case AddressProblem.PLACEHOLDER:
            return f"{public_url} is a placeholder."
        case AddressProblem.LOOPBACK:
            return f"{public_url} is an address of this machine only."
        case AddressProblem.PRIVATE:
            return f"{public_url} is an address of a private network."
        case _:
            assert_never(problem)


def _judge_host(host: str) -> AddressProblem | None:
    if not host:
        return AddressProblem.MISSING
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _judge_name(host.lower().rstrip("."))
    if address.is_loopback or address.is_unspecified:
        return AddressProblem.LOOPBACK
    # Also what carriers share among their customers, such as 100.64.0.0/10.
    return None if address.is_global else AddressProblem.PRIVATE


def _judge_name(name: str) -> AddressProblem | None:
    if _is_below(name, ("localhost",)):
        return AddressProblem.LOOPBACK
    if _is_placeholder(name):
        return AddressProblem.PLACEHOLDER
    # A name without a dot is known on one network only.
    if "." not in name or _is_below(name, _PRIVATE_NAMES):
        return AddressProblem.PRIVATE
    return None


def _is_placeholder(name: str) -> bool:
    # Such as `…`, `...` or `<host>`.
    is_no_name = "<" in name or not any(char.isalnum() for char in name)
    return is_no_name or name in _PLACEHOLDER_NAMES or _is_below(name, _PLACEHOLDERS)


def _is_below(name: str, domains: tuple[str, ...]) -> bool:
    return any(name == one or name.endswith(f".{one}") for one in domains)
