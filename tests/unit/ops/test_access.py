"""Who may read the metrics."""

import pytest
from pydantic import SecretStr

from patchwright.workers.ops.endpoints import (
    ListenerKind,
    MetricsAccess,
    judge_metrics_access,
)

TOKEN = SecretStr("a-token-of-this-test")
RIGHT = "Bearer a-token-of-this-test"


@pytest.mark.parametrize("door", ListenerKind)
@pytest.mark.parametrize("peer", ["127.0.0.1", "8.8.8.8", ""])
def test_the_right_token_opens_every_door_from_everywhere(
    door: ListenerKind, peer: str
) -> None:
    assert judge_metrics_access(TOKEN, RIGHT, door, peer) is MetricsAccess.GRANTED


@pytest.mark.parametrize(
    "shown", ["", "Bearer", "Bearer ", "Bearer other", "Basic a-token-of-this-test"]
)
@pytest.mark.parametrize("door", ListenerKind)
def test_where_there_is_a_token_nothing_else_opens(
    door: ListenerKind, shown: str
) -> None:
    assert (
        judge_metrics_access(TOKEN, shown, door, "127.0.0.1")
        is MetricsAccess.NEEDS_TOKEN
    )


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", "10.0.0.7", ""])
def test_without_a_token_nobody_reads_them_where_the_public_comes(peer: str) -> None:
    assert (
        judge_metrics_access(None, RIGHT, ListenerKind.PUBLIC, peer)
        is MetricsAccess.CLOSED
    )


@pytest.mark.parametrize(
    "peer",
    [
        "127.0.0.1",
        "::1",
        "10.1.2.3",
        "172.18.0.4",
        "::ffff:192.168.1.9",
        "fe80::1%eth0",
    ],
)
def test_without_a_token_neighbours_read_them_on_the_own_port(peer: str) -> None:
    assert (
        judge_metrics_access(None, "", ListenerKind.OWN_PORT, peer)
        is MetricsAccess.GRANTED
    )


@pytest.mark.parametrize("peer", ["8.8.8.8", "2a00::1", "::ffff:8.8.8.8", "", "name"])
def test_without_a_token_strangers_do_not(peer: str) -> None:
    assert (
        judge_metrics_access(None, "", ListenerKind.OWN_PORT, peer)
        is MetricsAccess.CLOSED
    )
