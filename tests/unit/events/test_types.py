"""The union of payloads is closed, and still survives what a newer version wrote."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from patchwright.core.events.types import (
    Action,
    Event,
    Known,
    Observation,
    Payload,
    Source,
    ToolCall,
    Unknown,
)

PAYLOADS: tuple[type[Payload], ...] = get_args(Known)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
    ),
    max_leaves=5,
)
AT = st.datetimes(min_value=datetime(2001, 1, 1)).map(  # noqa: DTZ001 - made aware below
    lambda moment: moment.replace(tzinfo=UTC)
)
st.register_type_strategy(str, TEXT)
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
st.register_type_strategy(
    ToolCall, st.builds(ToolCall, id=TEXT, name=TEXT, arguments=TEXT)
)


@st.composite
def payloads(draw: st.DrawFn) -> Payload:
    kind = draw(st.sampled_from(PAYLOADS))
    fixed: dict[str, st.SearchStrategy[object]] = {
        "kind": st.just(kind.model_fields["kind"].default)
    }
    if "reasoning" in kind.model_fields:
        fixed["reasoning"] = st.lists(
            st.dictionaries(TEXT, JSON, max_size=2), max_size=2
        ).map(tuple)
    return draw(st.builds(kind, **fixed))


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
    assert payload.model_dump(mode="json") == sent


def test_a_field_from_a_newer_version_is_passed_over() -> None:
    payload = read({"kind": "think", "thought": "So.", "mood": "good"}).payload
    assert payload.model_dump() == {"kind": "think", "thought": "So.", "call_id": ""}


def test_a_known_kind_with_wrong_fields_is_an_error() -> None:
    with pytest.raises(ValidationError, match="command"):
        read({"kind": "run_command"})
