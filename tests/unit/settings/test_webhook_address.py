"""Whether webhooks can arrive at an address is told by the address itself."""

import pytest

from patchwright.core.webhook_address import (
    AddressProblem,
    describe_address_problem,
    find_address_problem,
)

CLOUD = "https://github.com"
LOOPBACK = (
    "http://localhost:8080",
    "http://app.localhost",
    "http://127.0.0.1:8080",
    "http://127.8.9.1",
    "http://[::1]:8080",
    "http://0.0.0.0:8080",
)
PRIVATE = (
    "http://10.1.2.3",
    "http://192.168.0.7:8080",
    "https://172.16.0.1/under",
    "http://169.254.1.1",
    "http://100.64.0.1",
    "http://[fd00::1]",
    "http://patchwright:8080",
    "https://bot.corp.internal",
    "https://nas.local.",
    "https://pc.LAN",
)
PLACEHOLDERS = (
    "https://patchwright.example.com",
    "https://EXAMPLE.org",
    "https://bot.example",
    "https://bot.test",
    "https://YOUR-HOST",
    "https://HOST/under",
    "https://…",
    "https://...",
    "https://<host>",
)
PUBLIC = (
    "https://bot.acme.dev",
    "https://patchwright.acme.dev:8443/under",
    "http://8.8.8.8",
    "https://[2606:4700::1111]",
    "https://bücher.de",
    "https://my.host",
    "https://notexample.com",
    "https://quick-brown-fox.trycloudflare.com",
)


def problem(url: str) -> AddressProblem | None:
    return find_address_problem(url, CLOUD, sender_is_own=False)


@pytest.mark.parametrize("url", LOOPBACK)
def test_this_machine_is_found(url: str) -> None:
    assert problem(url) is AddressProblem.LOOPBACK


@pytest.mark.parametrize("url", PRIVATE)
def test_a_private_network_is_found(url: str) -> None:
    assert problem(url) is AddressProblem.PRIVATE


@pytest.mark.parametrize("url", PLACEHOLDERS)
def test_a_placeholder_is_found(url: str) -> None:
    assert problem(url) is AddressProblem.PLACEHOLDER


@pytest.mark.parametrize("url", PUBLIC)
def test_any_other_address_may_be_reached(url: str) -> None:
    assert problem(url) is None


def test_an_address_may_be_missing() -> None:
    assert problem("") is AddressProblem.MISSING


@pytest.mark.parametrize("url", PRIVATE)
def test_a_server_of_ones_own_reaches_private_networks(url: str) -> None:
    server = "https://github.corp.dev"
    assert find_address_problem(url, server, sender_is_own=True) is None


@pytest.mark.parametrize("url", LOOPBACK)
def test_only_a_server_on_this_machine_reaches_loopback(url: str) -> None:
    here, there = "http://127.0.0.1:9000", "http://10.0.0.5"
    assert find_address_problem(url, here, sender_is_own=True) is None
    found = find_address_problem(url, there, sender_is_own=True)
    assert found is AddressProblem.LOOPBACK
    found = find_address_problem(url, here, sender_is_own=False)
    assert found is AddressProblem.LOOPBACK


@pytest.mark.parametrize("url", ["", *PLACEHOLDERS])
def test_no_server_reaches_a_placeholder(url: str) -> None:
    assert find_address_problem(url, "http://127.0.0.1", sender_is_own=True)


def test_each_problem_is_described() -> None:
    url = "http://10.0.0.7"
    assert [describe_address_problem(one, url) for one in AddressProblem] == [
        "server.public_url is not set.",
        "http://10.0.0.7 is a placeholder.",
        "http://10.0.0.7 is an address of this machine only.",
        "http://10.0.0.7 is an address of a private network.",
    ]
