"""Read a request to the proxy, write the one it passes on, or the refusal; pure."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple

from patchwright.sandbox.egress.rules import Endpoint

MAX_SHOWN_CHARS = 100
BAD_REQUEST = "400 Bad Request"
BAD_GATEWAY = "502 Bad Gateway"
FORBIDDEN = "403 Blocked by the sandbox"


class ProxyRefusal(Exception):  # noqa: N818 - a refusal is no error of ours
    """A request is refused; with `is_counted` people are told."""

    def __init__(
        self, status: str, text: str, host: str, port: int, *, is_counted: bool = True
    ) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.host = host
        self.port = port
        self.is_counted = is_counted

    @classmethod
    def unclear(cls, text: str, host: str = "") -> ProxyRefusal:
        """Refuse what cannot be read in one way only; port 0 is one that is not known.

        Without a host it is no attempt to get anywhere.
        """
        return cls(BAD_REQUEST, text, shown(host), 0, is_counted=bool(host))

    @classmethod
    def blocked(cls, host: str, port: int, why: str) -> ProxyRefusal:
        return cls(FORBIDDEN, f"{host}:{port} {why}", host, port)

    @classmethod
    def unreachable(cls, host: str, port: int, why: str) -> ProxyRefusal:
        """Say that an allowed host could not be had."""
        text = f"{host}:{port} cannot be reached: {why}"
        return cls(BAD_GATEWAY, text, host, port, is_counted=False)

    def answer(self) -> bytes:
        """Return the response. Many programs show its first line and nothing else."""
        line = f"{self.status}: {self.text}" if self.is_counted else self.status
        body = f"Patchwright: {self.text}\n".encode("ascii", "replace")
        head = (
            f"HTTP/1.1 {line}\r\nContent-Type: text/plain\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        return head.encode("ascii", "replace") + body


def shown(text: str) -> str:
    """Return a host as it was written, without what might disturb its reader."""
    return "".join(
        letter if letter.isascii() and letter.isprintable() else "?"
        for letter in text[:MAX_SHOWN_CHARS]
    )


HTTP_PORT = 80
MAX_PORT = 65535

_LINE = re.compile(r"([A-Z]{1,20}) (\S+) HTTP/1\.[01]\Z")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]{1,253})(?::(\d{1,5}))?\Z")
# A longer label is none, and Python's resolver raises more than an `OSError` for it.
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\Z")
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*)\Z")
# What concerns this connection alone, and what we say ourselves.
# https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1
_NOT_PASSED_ON = frozenset(
    (
        *("connection", "host", "keep-alive", "proxy-authorization"),
        *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"),
    )
)


class ProxyRequest(NamedTuple):
    """The target of a request; `head` is sent there, empty for a tunnel.

    Only `body_bytes` follow the head: a second request would not have been checked.
    """

    target: Endpoint
    head: bytes
    body_bytes: int

    @property
    def is_tunnel(self) -> bool:
        return not self.head


def read_request(data: bytes) -> ProxyRequest:
    """Read what comes before the empty line; raise `Refusal` for what is not clear."""
    first, *fields = data.decode("latin-1").split("\r\n")
    line = _LINE.match(first)
    if line is None:
        raise ProxyRefusal.unclear("this is not an HTTP/1.1 request")
    method, where = line.groups()
    if method == "CONNECT":
        return ProxyRequest(read_target(where, None), b"", 0)
    scheme, separator, rest = where.partition("://")
    if not separator or scheme.lower() != "http":
        raise ProxyRefusal.unclear(
            "this is a proxy: give it the whole URL, or use CONNECT"
        )
    authority, path = _split(rest)
    target = read_target(authority, HTTP_PORT)
    return _plain(method, path, target, fields)


def read_target(authority: str, default_port: int | None) -> Endpoint:
    """Read `host:port`; there is one way to read it, or it is refused."""
    found = _AUTHORITY.match(authority)
    port = int(found.group(2) or default_port or 0) if found else 0
    if found is None or not 0 < port <= MAX_PORT:
        raise ProxyRefusal.unclear("the host cannot be read", authority)
    host = found.group(1).lower()
    # A single dot at the end means the same name.
    name = host[:-1] if host.endswith(".") else host
    address = _address(name.strip("[]"))
    if address:
        return Endpoint(address, port)
    if not all(_LABEL.match(label) for label in name.split(".")):
        raise ProxyRefusal.unclear("the host cannot be read", authority)
    return Endpoint(name, port)


def _split(rest: str) -> tuple[str, str]:
    """Take the host off the path, query and fragment."""
    end = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
    path = rest[end:].partition("#")[0]
    return rest[:end], path if path.startswith("/") else f"/{path}"


def _address(text: str) -> str:
    """Return an address as a rule spells it, or nothing if this is a name."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return ""
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found)


def _plain(method: str, path: str, target: Endpoint, fields: list[str]) -> ProxyRequest:
    pairs = [_field(field) for field in fields]
    names = [name.lower() for name, _ in pairs]
    if "transfer-encoding" in names:
        text = "send it with a Content-Length, or over https"
        raise ProxyRefusal.unclear(text, target.host)
    sizes = {value for name, value in pairs if name.lower() == "content-length"}
    kept = [
        f"{name}: {value}"
        for name, value in pairs
        if name.lower() not in _NOT_PASSED_ON
    ]
    # The host that was checked, not the one in the request.
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: {_spell(target)}",
        *kept,
        "Connection: close",
    ]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    return ProxyRequest(target, head, _size(sizes, target))


def _field(line: str) -> tuple[str, str]:
    found = _FIELD.match(line)
    if found is None:
        raise ProxyRefusal.unclear("a header cannot be read")
    return found.group(1), found.group(2)


def _size(sizes: set[str], target: Endpoint) -> int:
    if not sizes:
        return 0
    size = sizes.pop().strip()
    if sizes or not re.fullmatch(r"[0-9]{1,12}", size):
        raise ProxyRefusal.unclear("the Content-Length cannot be read", target.host)
    return int(size)


def _spell(target: Endpoint) -> str:
    host = f"[{target.host}]" if ":" in target.host else target.host
    return host if target.port == HTTP_PORT else f"{host}:{target.port}"
