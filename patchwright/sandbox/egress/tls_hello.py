"""Read whom the first message of a TLS connection is for; pure.

https://www.rfc-editor.org/rfc/rfc8446#section-4.1.2
"""

from __future__ import annotations

import ipaddress
from typing import Iterator, NamedTuple

RECORD_HEAD = 5
MESSAGE_HEAD = 4
HANDSHAKE = 0x16
CLIENT_HELLO = 0x01
SERVER_NAME = 0x0000
ENCRYPTED_CLIENT_HELLO = 0xFE0D
HOST_NAME = 0
# Longer than any that is sent: key shares and tickets make some kilobytes.
MAX_HELLO_BYTES = 64 << 10
# A fatal alert, "unrecognized_name": programs show it to their people.
# https://www.rfc-editor.org/rfc/rfc6066#section-3
ALERT = bytes((0x15, 3, 3, 0, 2, 2, 112))

NOT_TLS = "does not speak TLS on the HTTPS port"
CANNOT_BE_READ = "sends a TLS greeting that cannot be read"
ENCRYPTED = "hides the name of its host (ECH)"
NAMELESS = "does not name its host (SNI)"
OTHER_NAME = "names another host in TLS: {}"


class HelloError(Exception):
    """No greeting of TLS that can be read."""


class Hello(NamedTuple):
    """The host that it names, empty for none, and whether it hides another one."""

    name: str
    is_encrypted: bool


def is_tls(data: bytes) -> bool:
    return data[:1] == bytes((HANDSHAKE,))


def hello_objection(hello: Hello, host: str) -> str:
    """Return why this greeting may not go to a host, or nothing.

    Behind one address there may be many hosts, and the name in TLS chooses.
    """
    if is_address(host):
        return ""
    if hello.is_encrypted:
        return ENCRYPTED
    if not hello.name:
        return NAMELESS
    return "" if hello.name == host else OTHER_NAME.format(hello.name)


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def read_hello(data: bytes) -> Hello | None:
    """Return the greeting at the beginning, or None where more of it is to come.

    Raises `HelloError` for what is none.
    """
    message = _message(data)
    if message is None:
        if len(data) > MAX_HELLO_BYTES:
            raise HelloError
        return None
    try:
        return _parse(message)
    except (IndexError, UnicodeDecodeError) as error:
        raise HelloError from error


def _message(data: bytes) -> bytes | None:
    """Put the first message together again, which may be spread over records."""
    message, at = b"", 0
    while at + RECORD_HEAD <= len(data):
        if data[at] != HANDSHAKE:
            raise HelloError
        end = at + RECORD_HEAD + int.from_bytes(data[at + 3 : at + 5], "big")
        message += data[at + RECORD_HEAD : end]
        if message and message[0] != CLIENT_HELLO:
            raise HelloError
        if len(message) >= MESSAGE_HEAD:
            whole = MESSAGE_HEAD + int.from_bytes(message[1:MESSAGE_HEAD], "big")
            if whole > MAX_HELLO_BYTES:
                raise HelloError
            if len(message) >= whole:
                return message[MESSAGE_HEAD:whole]
        at = end
    return None


class _Cursor:
    """Takes bytes off the front; raises IndexError where there are too few."""

    def __init__(self, data: bytes) -> None:
        self._rest = data

    def __bool__(self) -> bool:
        return bool(self._rest)

    def take(self, size: int) -> bytes:
        if len(self._rest) < size:
            raise IndexError
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken

    def rest(self) -> bytes:
        return self._rest

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def vector(self, size: int) -> _Cursor:
        """Take a list whose length stands before it, in `size` bytes."""
        return _Cursor(self.take(self.number(size)))


def _parse(message: bytes) -> Hello:
    cursor = _Cursor(message)
    cursor.take(2 + 32)
    cursor.vector(1)
    cursor.vector(2)
    cursor.vector(1)
    # Before TLS 1.2 there may be none of these.
    extensions = list(_extensions(cursor.vector(2))) if cursor else []
    kinds = [kind for kind, _ in extensions]
    if len(set(kinds)) != len(kinds):
        # Two readers might each take another one.
        raise IndexError
    names = [_name(body) for kind, body in extensions if kind == SERVER_NAME]
    return Hello("".join(names), ENCRYPTED_CLIENT_HELLO in kinds)


def _extensions(cursor: _Cursor) -> Iterator[tuple[int, _Cursor]]:
    while cursor:
        yield cursor.number(2), cursor.vector(2)


def _name(body: _Cursor) -> str:
    """Return the one name in the list; other kinds of names do not exist."""
    entries = body.vector(2)
    kind, name = entries.number(1), entries.vector(2)
    found = name.rest().decode("ascii").lower()
    if kind != HOST_NAME or entries or not found:
        raise IndexError
    return found
