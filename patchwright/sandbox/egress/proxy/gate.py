"""Connect to where a request wants to go, if it may."""

from __future__ import annotations

import socket
from typing import Callable, Container, NamedTuple, Sequence

from patchwright.sandbox.egress.proxy.refusal import ProxyRefusal
from patchwright.sandbox.egress.proxy.rules import HostRule, Endpoint, is_listed, is_open
from patchwright.sandbox.egress.proxy.tally import RefusalCounter

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
        # Looked up once: what was judged is what is called.
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
    return ProxyRefusal.unreachable(target.host, target.port, error.strerror or str(error))
