"""What happens in a workspace besides messages."""

from typing import Any

import pytest

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import (
    Challenge,
    HomeRequest,
    InstallationChanged,
    TriggerKind,
)
from tests.unit.slack.samples import (
    ANN,
    BOT,
    TEAM,
    TS,
    envelope,
    mention,
    reaction,
    read_event,
    read_json,
    reason_of,
    trigger_of,
)


@pytest.mark.parametrize("name", ["octagonal_sign", "x"])
def test_stop_sign_on_the_first_message_of_a_thread_stops(name: str) -> None:
    stopped = trigger_of(envelope(reaction(name)))
    assert stopped.request == "stop"
    assert isinstance(stopped.thread, TalkThread)
    assert stopped.thread.id == TS
    assert stopped.actor.external_id == ANN
    # It counts where we are at work, and starts nothing elsewhere.
    assert stopped.kind is TriggerKind.REPLY


def test_stop_sign_that_is_set_again_asks_again() -> None:
    first = trigger_of(envelope(reaction("x")))
    again = trigger_of(envelope(reaction("x", event_ts="1712349999.000100")))
    assert first.key != again.key
    assert first.key == trigger_of(envelope(reaction("x"), event_id="Ev2")).key


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"reaction": "eyes"}, "other-reaction"),
        ({"user": BOT}, "own-act"),
        ({"user": None}, "author-unknown"),
        ({"item": {"type": "file", "file": "F1"}}, "not-a-message"),
    ],
)
def test_other_reactions_are_ignored(fields: dict[str, Any], reason: str) -> None:
    assert reason_of(envelope(reaction("x") | fields)) == reason


def test_stop_sign_of_somebody_whose_workspace_is_not_told_is_ignored() -> None:
    whole = envelope(reaction("x"), is_ext_shared_channel=True)
    assert reason_of(whole) == "author-unknown"


def test_home_tab_is_for_whoever_opens_it() -> None:
    opened = read_event({"type": "app_home_opened", "user": ANN, "tab": "home"})
    ann = Actor(service="slack", login=ANN, external_id=ANN, host=TEAM)
    assert opened == HomeRequest(actor=ann, installation=TEAM)


def test_messages_tab_needs_nothing() -> None:
    opened = {"type": "app_home_opened", "user": ANN, "tab": "messages"}
    assert reason_of(envelope(opened)) == "other-tab"


@pytest.mark.parametrize(
    "event",
    [
        {"type": "app_uninstalled"},
        {"type": "tokens_revoked", "tokens": {"oauth": [ANN], "bot": [BOT]}},
    ],
)
def test_workspace_that_removes_the_app_is_gone(event: dict[str, Any]) -> None:
    gone = InstallationChanged(service="slack", installation=TEAM, gone=True)
    assert read_event(event, authorizations=[]) == gone


def test_tokens_of_users_are_not_ours() -> None:
    revoked = {"type": "tokens_revoked", "tokens": {"oauth": [ANN]}}
    assert reason_of(envelope(revoked)) == "tokens-of-users"


@pytest.mark.parametrize(
    "name", ["assistant_thread_started", "function_executed", "member_joined_channel"]
)
def test_events_that_ask_for_nothing_are_ignored(name: str) -> None:
    assert reason_of(envelope({"type": name})) == "event-not-read"


def test_challenge_is_handed_back() -> None:
    whole = {"type": "url_verification", "challenge": "3eZbrw1a"}
    assert read_json(whole) == Challenge(word="3eZbrw1a")


def test_s68_a_repeated_delivery_is_the_same_request() -> None:
    again = envelope(mention(), event_id="Ev2", event_time=2)
    assert trigger_of(again).key == trigger_of(envelope(mention())).key
