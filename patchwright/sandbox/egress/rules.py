"""Decide which hosts may be reached, and at which of their addresses; pure."""

from __future__ import annotations

import ipaddress
from typing import Container, Iterator, NamedTuple, Sequence, Union

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]

WEB_PORTS = (80, 443)
# What no list opens: where clouds give out credentials. Amazon, Google, Azure and
# others answer at 169.254.169.254, Alibaba at 100.100.100.200, Oracle at 192.0.0.192,
# Azure's wire server at 168.63.129.16, Amazon also at fd00:ec2::254.
_NEVER = tuple(
    ipaddress.ip_network(one)
    for one in (
        "169.254.0.0/16",
        "100.100.100.200/32",
        "192.0.0.192/32",
        "168.63.129.16/32",
        "fd00:ec2::/32",
        "fe80::/10",
    )
)
# An IPv4 address is in the last bits of these: https://www.rfc-editor.org/rfc/rfc6052
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
# What is given out to the public, and what in it is not; Pythons differ about these.
# https://www.iana.org/assignments/iana-ipv4-special-registry
# https://www.iana.org/assignments/iana-ipv6-special-registry
_PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")
_SPECIAL = tuple(
    ipaddress.ip_network(one)
    for one in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8"),
        *("169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24"),
        *("192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
        *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
    )
)


class HostRule(NamedTuple):
    """A host that may be reached, or with `with_subdomains` all that are below it.

    Without a `port` those of the web are meant. `host` is in lower case, an address as
    `ipaddress` writes it.
    """

    host: str
    port: int | None
    with_subdomains: bool


class Endpoint(NamedTuple):
    """Where a request wants to go; `host` is spelled like a rule's."""

    host: str
    port: int


def is_listed(target: Endpoint, rules: Sequence[HostRule]) -> bool:
    return any(_allows(rule, target) for rule in rules)


def is_open(
    address: str,
    target: Endpoint,
    rules: Sequence[HostRule],
    own: Container[str] = (),
) -> bool:
    """Tell whether a host that may be reached may be so at this address of it.

    A name can be made to lead anywhere: an address that is not public, or is among this
    machine's `own`, has to be listed itself, for this port.
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    meant = [*_embedded(found), found]
    if any(_is_never(one) for one in meant):
        return False
    if is_listed(Endpoint(str(meant[0]), target.port), rules):
        return True
    return all(_is_public(one) and str(one) not in own for one in meant)


def _allows(rule: HostRule, target: Endpoint) -> bool:
    ports = WEB_PORTS if rule.port is None else (rule.port,)
    if target.port not in ports:
        return False
    if rule.with_subdomains:
        return target.host.endswith(f".{rule.host}")
    return target.host == rule.host


def _embedded(address: Address) -> Iterator[Address]:
    """Yield the IPv4 addresses that an IPv6 address leads to, or may lead to."""
    if not isinstance(address, ipaddress.IPv6Address):
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield address.teredo[1]
    if address in _TRANSLATED:
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


def _is_never(address: Address) -> bool:
    return any(address in one for one in _NEVER if one.version == address.version)


def _is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            # Judged by the embedded address; Python versions differ about the rest.
            return True
        if address not in _PUBLIC_IPV6:
            return False
    return not any(address in one for one in _SPECIAL if one.version == address.version)
