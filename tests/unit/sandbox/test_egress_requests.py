"""How the proxy of a sandbox reads requests: one way, or not at all."""

import pytest

from patchwright.sandbox.egress.gate import MAX_HOSTS, OTHERS, RefusalCounter
from patchwright.sandbox.egress.proxy_request import ProxyRefusal, read_request
from patchwright.sandbox.egress.rules import Endpoint


def lines(*parts: str) -> bytes:
    return "\r\n".join(parts).encode("latin-1")


@pytest.mark.parametrize(
    ("where", "target"),
    [
        ("a.example:443", Endpoint("a.example", 443)),
        ("A.Example.:443", Endpoint("a.example", 443)),
        ("xn--bcher-kva.example:443", Endpoint("xn--bcher-kva.example", 443)),
        ("[FD00::0:7]:443", Endpoint("fd00::7", 443)),
        ("[::ffff:10.0.0.7]:443", Endpoint("10.0.0.7", 443)),
    ],
)
def test_a_tunnel_goes_to_one_host_however_it_is_spelled(
    where: str, target: Endpoint
) -> None:
    request = read_request(lines(f"CONNECT {where} HTTP/1.1", "Host: other.example"))
    assert (request.target, request.is_tunnel) == (target, True)


@pytest.mark.parametrize(
    "where",
    [
        *("a.example", "a.example:", "a.example:0", "a.example:65536", "a.example:x"),
        *("a.example@evil.example:443", "evil.example#a.example:443", "a..example:443"),
        *("a.example:443:443", ":443", "[::1:443", "::1:443", "a%2eexample:443"),
        *("b\xfccher.example:443", "https://a.example:443", "-a.example:443"),
        f"{'a' * 64}.example:443",
    ],
)
def test_a_host_that_could_be_read_in_two_ways_is_refused_and_counted(
    where: str,
) -> None:
    with pytest.raises(ProxyRefusal) as refused:
        read_request(lines(f"CONNECT {where} HTTP/1.1"))
    assert refused.value.is_counted
    assert refused.value.host.isascii()


def test_a_plain_request_is_passed_on_for_the_host_that_was_judged() -> None:
    request = read_request(
        lines(
            "GET http://a.example/path?x=1#part HTTP/1.1",
            "Host: evil.example",
            "Accept: */*",
            "Proxy-Authorization: Basic eDp5",
            "Connection: keep-alive",
            "Upgrade: h2c",
        )
    )
    assert request.target == Endpoint("a.example", 80)
    assert request.head.decode().split("\r\n") == [
        "GET /path?x=1 HTTP/1.1",
        "Host: a.example",
        "Accept: */*",
        "Connection: close",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("http://a.example", "GET / HTTP/1.1"),
        ("http://a.example?q", "GET /?q HTTP/1.1"),
        ("HTTP://a.example:8080/x", "GET /x HTTP/1.1"),
    ],
)
def test_what_is_asked_for_is_the_path(url: str, line: str) -> None:
    assert read_request(lines(f"GET {url} HTTP/1.1")).head.startswith(line.encode())


def test_a_request_ends_where_its_length_says() -> None:
    sized = lines("POST http://a.example/ HTTP/1.1", "Content-Length: 12")
    assert read_request(sized).body_bytes == 12


@pytest.mark.parametrize(
    "fields",
    [
        ["Transfer-Encoding: chunked"],
        ["Content-Length: 1", "Content-Length: 2"],
        ["Content-Length: +1"],
        ["Content-Length: 0x10"],
        ["Folded: a", " b"],
        ["No colon"],
        ["Host : a.example"],
        ["Bare: a\nHost: evil.example"],
    ],
)
def test_a_request_whose_end_or_headers_are_in_doubt_is_refused(
    fields: list[str],
) -> None:
    with pytest.raises(ProxyRefusal, match=r"Content-Length|header"):
        read_request(lines("POST http://a.example/ HTTP/1.1", *fields))


@pytest.mark.parametrize(
    "line",
    [
        *("GET / HTTP/1.1", "GET https://a.example/ HTTP/1.1", "hello", ""),
        *("GET ftp://a.example/ HTTP/1.1", "GET http://a.example/", "\x16\x03\x01"),
    ],
)
def test_what_is_no_request_to_a_proxy_is_refused_and_not_counted(line: str) -> None:
    with pytest.raises(ProxyRefusal) as refused:
        read_request(lines(line))
    assert not refused.value.is_counted
    assert refused.value.answer().startswith(b"HTTP/1.1 400 Bad Request\r\n")


def test_the_first_line_of_a_refusal_says_what_and_why() -> None:
    refusal = ProxyRefusal.blocked(
        "evil.example", 443, "is not in sandbox.allow_domains"
    )
    first, *_ = refusal.answer().decode().split("\r\n")
    assert first == (
        "HTTP/1.1 403 Blocked by the sandbox: "
        "evil.example:443 is not in sandbox.allow_domains"
    )


def test_a_host_cannot_write_into_the_answer() -> None:
    refusal = ProxyRefusal.unclear(
        "the host cannot be read", "a\r\nSet-Cookie: x\x1b[2J"
    )
    assert b"\nSet-Cookie" not in refusal.answer()
    assert b"\x1b" not in refusal.answer()


def test_requests_are_counted_by_host_and_port_up_to_a_number_of_hosts() -> None:
    tally = RefusalCounter()
    for number in range(MAX_HOSTS + 5):
        for _ in range(2):
            tally.note(ProxyRefusal.blocked(f"h{number}.example", 443, "is not listed"))
    counted = tally.counted()
    assert len(counted) == MAX_HOSTS + 1
    first, last = counted[0], counted[-1]
    assert (first["host"], first["port"], first["count"]) == ("h0.example", 443, 2)
    assert (last["host"], last["count"]) == (OTHERS[0], 10)
