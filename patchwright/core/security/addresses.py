"""Say what a host is, as it is written in a command or a URL."""

import ipaddress
import re
from enum import Enum, auto
from typing import Final
from urllib.parse import urlsplit

METADATA: Final = "It asks the cloud's metadata service, which gives out credentials."


class HostKind(Enum):
    OWN = auto()
    METADATA = auto()
    OTHER = auto()


_METADATA_NAMES: Final = {
    "metadata.google.internal", "metadata", "instance-data", "metadata.azure.com",
    "instance-data.ec2.internal", "metadata.tencentyun.com",
}  # fmt: skip
# Amazon, Google, Azure and others answer there; 100.100.100.200 is Alibaba's,
# 192.0.0.192 Oracle's, 168.63.129.16 Azure's wire server, fd00:ec2::254 Amazon's.
_METADATA: Final = tuple(
    map(
        ipaddress.ip_network,
        (
            "169.254.0.0/16",
            "100.100.100.200/32",
            "192.0.0.192/32",
            "168.63.129.16/32",
            "fd00:ec2::254/128",
            "fe80::/10",
        ),
    )
)
_NUMBER: Final = re.compile(
    r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+)){0,3}\Z", re.IGNORECASE
)


def host_of(url: str) -> str:
    """Return the host of a URL or of `host:port`; empty when there is none."""
    spelled = url if "://" in url else f"//{url}"
    try:
        return urlsplit(spelled).hostname or ""
    except ValueError:
        return ""


def kind_of_host(host: str) -> HostKind:
    name = host.lower().rstrip(".")
    if name in _METADATA_NAMES:
        return HostKind.METADATA
    if name == "localhost" or name.endswith(".localhost"):
        return HostKind.OWN
    address = _address(name)
    if address is None:
        return HostKind.OTHER
    if address.is_loopback or address.is_unspecified:
        return HostKind.OWN
    is_metadata = any(
        address in one for one in _METADATA if one.version == address.version
    )
    return HostKind.METADATA if is_metadata else HostKind.OTHER


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return _spelled_otherwise(name)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _spelled_otherwise(name: str) -> ipaddress.IPv4Address | None:
    """Read an address as inet_aton does: `0x7f.1`, `2852039166`, octal parts.

    https://pubs.opengroup.org/onlinepubs/9799919799/functions/inet_addr.html
    """
    if not _NUMBER.match(name):
        return None
    try:
        *heads, last = map(_number, name.split("."))
    except ValueError:
        return None
    value = sum(head << (24 - 8 * at) for at, head in enumerate(heads)) + last
    return ipaddress.IPv4Address(value) if value < 1 << 32 else None


def _number(text: str) -> int:
    if text.startswith("0x"):
        return int(text, 16)
    return int(text, 8 if text.startswith("0") and text != "0" else 10)
