"""The hosts in commands, URLs and lists of allowed domains."""

import re
from enum import Enum, auto
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from patchwright.core.types.base import Value

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
_METADATA: Final = (
    *map(ip_network, ("169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32")),
    *map(ip_network, ("168.63.129.16/32", "fd00:ec2::254/128", "fe80::/10")),
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
    address = _address(name) or _spelled_otherwise(name)
    if address is None:
        return HostKind.OTHER
    if address.is_loopback or address.is_unspecified:
        return HostKind.OWN
    is_metadata = any(
        address in one for one in _METADATA if one.version == address.version
    )
    return HostKind.METADATA if is_metadata else HostKind.OTHER


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _spelled_otherwise(name: str) -> IPv4Address | None:
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
    return IPv4Address(value) if value < 1 << 32 else None


def _number(text: str) -> int:
    if text.startswith("0x"):
        return int(text, 16)
    return int(text, 8 if text.startswith("0") and text != "0" else 10)


WEB_PORTS: Final = (80, 443)
MAX_PORT: Final = 65535
_PORT: Final = re.compile(r"(.*[^:]|\[.*\]):(\d{1,5})\Z")
_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\Z")
_MAX_NAME_CHARS: Final = 253


class Domain(Value):
    """A host, or with `with_subdomains` all hosts below it but not itself.

    Without a `port` those of the web are meant. `host` is in lower case and as it goes
    over the wire.
    """

    host: str
    port: int | None = None
    with_subdomains: bool = False

    def covers(self, other: "Domain") -> bool:
        """Tell whether everything that `other` opens is open here."""
        if self.port != other.port and not (
            self.port is None and other.port in WEB_PORTS
        ):
            return False
        if self.host == other.host:
            return self.with_subdomains == other.with_subdomains
        return self.with_subdomains and other.host.endswith(f".{self.host}")


def read_domain(text: str) -> Domain:
    """Read `example.com`, `*.example.com`, an address, each perhaps with `:port`.

    Raises `ValueError`, with what is wrong.
    """
    spelled = text.strip().lower()
    if "/" in spelled or "@" in spelled:
        raise ValueError(f"{text!r}: write only the host, such as example.com")
    host, port = _split(spelled)
    if host.startswith("*."):
        return Domain(host=_parent(text, host[2:]), port=port, with_subdomains=True)
    address = _address_of(host)
    if not address and "*" in host:
        raise ValueError(
            f"{text!r}: a * is allowed only at the beginning, such as *.example.com"
        )
    name = address or _name(text, host)
    if kind_of_host(name) is HostKind.METADATA:
        raise ValueError(f"{text!r}: a cloud's metadata service is never open")
    return Domain(host=name, port=port)


def _split(spelled: str) -> tuple[str, int | None]:
    found = _PORT.match(spelled)
    if found is None or _address_of(spelled):
        return spelled, None
    port = int(found.group(2))
    if not 0 < port <= MAX_PORT:
        raise ValueError(f"{spelled!r}: there is no port {port}")
    return found.group(1), port


def _address_of(host: str) -> str:
    """Return an address in its one spelling, or nothing if it is a name."""
    return str(_address(host.removeprefix("[").removesuffix("]")) or "")


def _parent(text: str, host: str) -> str:
    name = _name(text, host)
    if "." not in name:
        raise ValueError(f"{text!r}: write at least two labels, such as *.example.com")
    return name


def _name(text: str, host: str) -> str:
    """Return a name as it goes over the wire: `bücher.example` has another there."""
    try:
        name = host.removesuffix(".").encode("idna").decode("ascii").lower()
    except UnicodeError:
        name = ""
    labels = name.split(".")
    is_name = len(name) <= _MAX_NAME_CHARS and all(map(_LABEL.match, labels))
    # A last label of digits is an address in some old spelling.
    if not is_name or labels[-1].isdigit() or labels[-1].startswith("0x"):
        raise ValueError(f"{text!r} is not a host; write it like example.com")
    return name
