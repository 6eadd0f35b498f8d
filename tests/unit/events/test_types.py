"""The union of payloads is closed, and still survives what a newer version wrote."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from patchwright.core.events.actions import Think
from patchwright.core.events.observations import AttemptStart, StateChanged
from patchwright.core.events.payload import AgentState, Payload, Source
from patchwright.core.events.types import Action, Event, Observation, Unknown
from patchwright.core.types.base import JobId
from tests.unit.events.made_up import AT, PAYLOADS, payloads


@given(payload=payloads(), source=st.sampled_from(Source), at=AT)
def test_every_payload_survives_its_json_form(
    payload: Payload, source: Source, at: datetime
) -> None:
    event = Event.model_validate(
        {"id": 1, "at": at, "source": source, "payload": payload}
    )
    again = Event.model_validate_json(event.model_dump_json())
    assert again == event
    assert type(again.payload) is type(payload)


def test_every_kind_has_a_name_of_its_own() -> None:
    kinds = [payload.model_fields["kind"].default for payload in PAYLOADS]
    assert len(set(kinds)) == len(kinds)


def test_an_action_is_no_observation() -> None:
    assert set(get_args(Action)) & set(get_args(Observation)) == set()


def read(payload: Mapping[str, object]) -> Event:
    at = datetime(2030, 1, 1, tzinfo=UTC)
    return Event.model_validate(
        {"id": 1, "at": at, "source": "agent", "payload": payload}
    )


def test_a_kind_from_a_newer_version_keeps_its_fields() -> None:
    sent = {"kind": "sing", "song": {"name": "Frère Jacques"}, "call_id": "c"}
    payload = read(sent).payload
    assert isinstance(payload, Unknown)
    assert payload.model_dump(mode="json") == sent | {"agent": ""}


def test_a_field_from_a_newer_version_is_passed_over() -> None:
    payload = read({"kind": "think", "thought": "So.", "mood": "good"}).payload
    assert payload == Think(thought="So.")


def test_a_known_kind_with_wrong_fields_is_an_error() -> None:
    with pytest.raises(ValidationError, match="command"):
        read({"kind": "run_command"})


def test_an_attempt_of_an_earlier_version_is_read_from_its_sentence() -> None:
    old = {"kind": "state_changed", "state": "loading", "reason": "run 4f1c, attempt 2"}
    read = StateChanged.model_validate(old)
    assert read.attempt == AttemptStart(run_id=JobId("4f1c"), number=2)
    assert StateChanged.model_validate_json(read.model_dump_json()) == read


@pytest.mark.parametrize("reason", ["", "@alice", "run 4f1c ended, attempt 2"])
def test_no_other_change_of_state_begins_an_attempt(reason: str) -> None:
    assert StateChanged(state=AgentState.LOADING, reason=reason).attempt is None
