"""For which host a connection in TLS says it is."""

import ssl
from collections.abc import Iterator

import pytest

from patchwright.sandbox.egress.tls_hello import (
    ENCRYPTED,
    ENCRYPTED_CLIENT_HELLO,
    NAMELESS,
    Hello,
    HelloError,
    hello_objection,
    read_hello,
)


def greeting(name: str | None) -> bytes:
    """Return what OpenSSL sends first."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    sent = ssl.MemoryBIO()
    way = context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        way.do_handshake()
    return sent.read()


def in_records(data: bytes, size: int) -> bytes:
    """Return a greeting of one record spread over many."""
    head, body = data[:3], data[5:]
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(head + len(one).to_bytes(2, "big") + one for one in pieces)


def with_extension(data: bytes, kind: int, body: bytes = b"") -> bytes:
    """Return a greeting with one more extension at its end."""
    more = kind.to_bytes(2, "big") + len(body).to_bytes(2, "big") + body
    # After record and message head: version, random, and three lists.
    at = 9 + 2 + 32
    at += 1 + data[at]
    at += 2 + int.from_bytes(data[at : at + 2], "big")
    at += 1 + data[at]
    longer = bytearray(data + more)
    for place, width in ((3, 2), (6, 3), (at, 2)):
        value = int.from_bytes(longer[place : place + width], "big") + len(more)
        longer[place : place + width] = value.to_bytes(width, "big")
    return bytes(longer)


def test_the_name_in_a_greeting_is_read_in_small_letters() -> None:
    assert read_hello(greeting("Listed.example")) == Hello("listed.example", False)
    assert read_hello(greeting(None)) == Hello("", False)


def test_a_greeting_in_many_records_is_put_together() -> None:
    assert read_hello(in_records(greeting("a.example"), 7)) == Hello("a.example", False)


def beginnings(data: bytes) -> Iterator[bytes]:
    return (data[:end] for end in range(len(data)))


def test_of_a_greeting_that_is_not_whole_nothing_is_said() -> None:
    whole = greeting("a.example")
    assert {read_hello(part) for part in beginnings(whole)} == {None}


def test_a_hidden_name_is_told() -> None:
    hidden = with_extension(greeting("a.example"), ENCRYPTED_CLIENT_HELLO, b"x" * 9)
    assert read_hello(hidden) == Hello("a.example", True)


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        # An answer where a greeting has to be, one too long, and lists that lie.
        b"\x16\x03\x01\x00\x04\x02\x00\x00\x00",
        b"\x16\x03\x01\x00\x04\x01\xff\xff\xff",
        b"\x16\x03\x01\x00\x06\x01\x00\x00\x02\x03\x03",
        with_extension(greeting("a.example"), 0, b"\x00\x04\x00\x00\x01b"),
        with_extension(greeting(None), 0, b"\x00\x04\x07\x00\x01b"),
        with_extension(greeting(None), 0, b"\x00\x08\x00\x00\x01b\x00\x00\x01c"),
        with_extension(greeting(None), 0, b"\x00\x04\x00\x00\x01\xff"),
    ],
)
def test_what_can_be_read_in_more_than_one_way_is_no_greeting(data: bytes) -> None:
    with pytest.raises(HelloError):
        read_hello(data)


@pytest.mark.parametrize("size", [1, 1000])
def test_a_greeting_without_an_end_is_not_read_for_ever(size: int) -> None:
    record = b"\x16\x03\x01" + size.to_bytes(2, "big") + b"\x01" * size
    with pytest.raises(HelloError):
        read_hello(record * (70_000 // size))


def test_a_greeting_has_to_name_the_host_of_its_tunnel() -> None:
    assert hello_objection(Hello("a.example", False), "a.example") == ""
    assert "b.example" in hello_objection(Hello("b.example", False), "a.example")
    assert hello_objection(Hello("", False), "a.example") == NAMELESS
    assert hello_objection(Hello("a.example", True), "a.example") == ENCRYPTED
    assert hello_objection(Hello("", False), "10.0.0.7") == ""
