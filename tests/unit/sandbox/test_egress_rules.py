"""Where the proxy of a sandbox lets requests go."""

import pytest

from patchwright.sandbox.egress.rules import Endpoint, HostRule, is_listed, is_open

RULES = (
    HostRule("a.example", None, False),
    HostRule("b.example", 8443, False),
    HostRule("wide.example", None, True),
    HostRule("10.0.0.7", None, False),
    HostRule("fd00::7", None, False),
)


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("a.example", 80),
        ("a.example", 443),
        ("b.example", 8443),
        ("x.wide.example", 443),
        ("x.y.wide.example", 443),
        ("10.0.0.7", 80),
    ],
)
def test_what_is_listed_is_let_through(host: str, port: int) -> None:
    assert is_listed(Endpoint(host, port), RULES)


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("a.example", 22),
        ("a.example", 8443),
        ("b.example", 443),
        ("wide.example", 443),
        ("evilwide.example", 443),
        ("a.example.evil.example", 443),
        ("xa.example", 443),
        ("example", 443),
        ("10.0.0.8", 80),
        ("167772167", 80),
        ("0xa000007", 80),
    ],
)
def test_what_only_looks_like_it_is_refused(host: str, port: int) -> None:
    assert not is_listed(Endpoint(host, port), RULES)


@pytest.mark.parametrize(
    "address",
    [
        "93.184.215.14",
        "2606:2800:21f:cb07::1",
        "10.0.0.7",
        "::ffff:10.0.0.7",
        "fd00::7",
    ],
)
def test_a_listed_host_is_reached_at_public_and_at_listed_addresses(
    address: str,
) -> None:
    assert is_open(address, Endpoint("a.example", 443), RULES)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "10.0.0.8",
            "192.168.1.1",
            "172.17.0.1",
            "100.64.0.1",
            "0.0.0.0",
        ),
        *("::1", "fd00::8", "fe80::1%eth0", "fec0::1", "ff02::1", "224.0.0.1"),
        # The same in the clothes of IPv6.
        *("::ffff:127.0.0.1", "::ffff:192.168.1.1", "2002:c0a8:101::1"),
        *("64:ff9b::c0a8:101", "2001:0:c0a8:101::1"),
    ],
)
def test_a_listed_name_does_not_lead_to_addresses_that_are_not_public(
    address: str,
) -> None:
    assert not is_open(address, Endpoint("a.example", 443), RULES)


@pytest.mark.parametrize(
    "address",
    [
        *("192.0.0.8", "198.18.0.1", "203.0.113.7", "255.255.255.255", "64:ff9b:1::1"),
        *("::7f00:1", "3fff::1", "5f00::1", "2001:db8::1", "100::1", "::ffff:0:0"),
    ],
)
def test_m4_what_is_public_does_not_depend_on_the_images_python(address: str) -> None:
    assert not is_open(address, Endpoint("a.example", 443), RULES)


def test_m4_this_machines_own_public_address_has_to_be_listed() -> None:
    own, target = {"93.184.215.14"}, Endpoint("a.example", 443)
    assert not is_open("93.184.215.14", target, RULES, own)
    assert not is_open("::ffff:93.184.215.14", target, RULES, own)
    assert is_open("93.184.215.15", target, RULES, own)
    listed = (*RULES, HostRule("93.184.215.14", None, False))
    assert is_open("93.184.215.14", target, listed, own)


def test_an_address_is_listed_for_its_port_alone() -> None:
    rules = (HostRule("a.example", 8080, False), HostRule("10.0.0.7", 443, False))
    assert not is_open("10.0.0.7", Endpoint("a.example", 8080), rules)


@pytest.mark.parametrize(
    "address",
    [
        *("169.254.169.254", "100.100.100.200", "192.0.0.192", "168.63.129.16"),
        *("fd00:ec2::254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe"),
    ],
)
def test_no_list_opens_what_gives_out_credentials(address: str) -> None:
    everything = (*RULES, HostRule(address, None, False))
    assert not is_open(address, Endpoint("a.example", 80), everything)
    assert not is_open(address, Endpoint(address, 80), everything)
