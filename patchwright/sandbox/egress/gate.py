"""Connect to where a request wants to go if it may, and count what was refused."""

from __future__ import annotations

import socket
import threading
import time
from typing import Callable, Container, Dict, NamedTuple, Sequence

from patchwright.sandbox.egress.proxy_request import ProxyRefusal
from patchwright.sandbox.egress.rules import Endpoint, HostRule, is_listed, is_open

# A program that tries many names must not make this list endless.
MAX_HOSTS = 100
OTHERS = ("other hosts", 0)

Counted = Dict[str, object]


class RefusalCounter:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[tuple[str, int], Counted] = {}

    def note(self, refusal: ProxyRefusal) -> None:
        if not refusal.is_counted:
            return
        with self._lock:
            entry = self._entry(refusal)
            entry["count"] = int(str(entry["count"])) + 1

    def counted(self) -> list[Counted]:
        """Return an entry for each host and port, in the order of the first attempt.

        `first_at` is in seconds since 1970.
        """
        with self._lock:
            return [dict(entry) for entry in self._found.values()]

    def _entry(self, refusal: ProxyRefusal) -> Counted:
        key = (refusal.host, refusal.port)
        if key not in self._found and len(self._found) >= MAX_HOSTS:
            key = OTHERS
        host, port = key
        new: Counted = {
            "host": host,
            "port": port,
            "count": 0,
            "first_at": time.time(),
            "why": refusal.text if key != OTHERS else "",
        }
        return self._found.setdefault(key, new)


CONNECT_S = 15.0

NOT_LISTED = "is not in sandbox.allow_domains"
NOT_PUBLIC = "leads to an address that is not public and not in sandbox.allow_domains"
NOT_ALLOWED = (
    'leads to an address that is not public: sandbox.network = "allow" opens none; '
    'list the host in sandbox.allow_domains with sandbox.network = "allowlist"'
)

Resolve = Callable[[Endpoint], Sequence[str]]
Call = Callable[[str, int], socket.socket]


def call(address: str, port: int) -> socket.socket:
    connection = socket.create_connection((address, port), CONNECT_S)
    connection.settimeout(None)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return connection


class Gate(NamedTuple):
    """The hosts that are open, and what knows their addresses and calls them.

    With `opens_public` every host is, at its public addresses; those of the machine
    itself, `own`, are not among them.
    """

    rules: Sequence[HostRule]
    refusals: RefusalCounter
    resolve: Resolve
    opens_public: bool = False
    own: Container[str] = ()
    call: Call = call

    def connect_to_target(self, target: Endpoint) -> socket.socket:
        """Return a connection; raise `Refusal` where there is none to be had.

        A name that is not listed is not looked up: a question for it is a message too.
        """
        if not self.opens_public and not is_listed(target, self.rules):
            raise ProxyRefusal.blocked(target.host, target.port, NOT_LISTED)
        try:
            addresses = list(dict.fromkeys(self.resolve(target)))
        except OSError as error:
            raise _unreachable(target, error) from error
        # Looked up once: the checked address is the one that is called.
        good = [one for one in addresses if is_open(one, target, self.rules, self.own)]
        if not good:
            why = NOT_ALLOWED if self.opens_public else NOT_PUBLIC
            raise ProxyRefusal.blocked(target.host, target.port, why)
        return self._connect(target, good)

    def _connect(self, target: Endpoint, addresses: Sequence[str]) -> socket.socket:
        first, *others = addresses
        try:
            return self.call(first, target.port)
        except OSError as error:
            if not others:
                raise _unreachable(target, error) from error
        return self._connect(target, others)


def resolve(target: Endpoint) -> Sequence[str]:
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def _unreachable(target: Endpoint, error: OSError) -> ProxyRefusal:
    return ProxyRefusal.unreachable(
        target.host, target.port, error.strerror or str(error)
    )
