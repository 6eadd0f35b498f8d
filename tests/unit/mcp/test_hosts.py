"""Only listed hosts are called, and inner addresses only if listed themselves."""

import pytest

from patchwright.core.mcp import may_reach

NAME = "tools.example"
PUBLIC = "93.184.216.34"


@pytest.mark.parametrize(
    ("host", "address", "allowed"),
    [
        (NAME, PUBLIC, {NAME}),
        (NAME, "2606:4700::1111", {NAME}),
        ("localhost", "127.0.0.1", {"localhost"}),
        ("localhost", "::1", {"localhost"}),
        ("127.0.0.1", "127.0.0.1", {"127.0.0.1"}),
        ("::1", "::1", {"::1"}),
        (NAME, "10.0.0.7", {NAME, "10.0.0.7"}),
        (NAME, "::ffff:10.0.0.7", {NAME, "10.0.0.7"}),
        ("169.254.169.254", "169.254.169.254", {"169.254.169.254"}),
    ],
)
def test_what_is_listed_is_called(host: str, address: str, allowed: set[str]) -> None:
    assert may_reach(host, address, allowed)


@pytest.mark.parametrize(
    ("host", "address", "allowed"),
    [
        (NAME, PUBLIC, set()),
        (NAME, PUBLIC, {"example"}),
        (NAME, PUBLIC, {PUBLIC}),
        (NAME, "169.254.169.254", {NAME}),
        (NAME, "::ffff:169.254.169.254", {NAME}),
        (NAME, "fd00:ec2::254", {NAME}),
        (NAME, "10.0.0.7", {NAME, "10.0.0.8"}),
        (NAME, "100.100.100.200", {NAME}),
        (NAME, "127.0.0.1", {NAME, "localhost"}),
        (NAME, "0.0.0.0", {NAME}),
        (NAME, "224.0.0.1", {NAME}),
        (NAME, "fe80::1%eth0", {NAME}),
        ("localhost", "10.0.0.7", {"localhost"}),
        # An inner address in the clothes of an outer one, and Azure's wire server.
        (NAME, "64:ff9b::a9fe:a9fe", {NAME}),
        (NAME, "64:ff9b:1::a00:7", {NAME}),
        (NAME, "2002:a00:7::1", {NAME}),
        (NAME, "168.63.129.16", {NAME}),
    ],
)
def test_what_is_not_listed_is_not_called(
    host: str, address: str, allowed: set[str]
) -> None:
    assert not may_reach(host, address, allowed)
