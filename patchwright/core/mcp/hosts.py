"""Decide which addresses on the network a server may have."""

from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from patchwright.core.security.addresses import HostKind, kind_of_host

# An IPv4 address stands in each of these, and may be a private one: NAT64 and 6to4.
_TUNNELS = tuple(
    map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"))
)
_LOOPBACK_NAME = "localhost"


def may_reach(host: str, address: str, allowed: Collection[str]) -> bool:
    """Tell whether `host`, which has this address, may be called.

    The host must be listed. An address that is not public, such as that of a cloud's
    metadata or of a neighbour in the data centre, must be listed itself too: a name
    can be made to lead anywhere. Only `localhost` says where it leads.
    """
    if host not in allowed:
        return False
    found = _plain(ip_address(address.partition("%")[0]))
    if _is_public(found):
        return True
    if host == _LOOPBACK_NAME and found.is_loopback:
        return True
    return str(found) in {str(_plain(one)) for one in _addresses(allowed)}


def _is_public(found: IPv4Address | IPv6Address) -> bool:
    """Tell whether anybody may be there, and no cloud's metadata or neighbour."""
    if kind_of_host(str(found)) is HostKind.METADATA or found.is_multicast:
        return False
    is_tunnel = any(found in one for one in _TUNNELS if one.version == found.version)
    return found.is_global and not found.is_reserved and not is_tunnel


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 one stands for, or the address itself."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def _addresses(allowed: Collection[str]) -> list[IPv4Address | IPv6Address]:
    found = []
    for host in allowed:
        try:
            found.append(ip_address(host.strip("[]")))
        except ValueError:
            continue
    return found
