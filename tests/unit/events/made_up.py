"""Payloads of every kind, as Hypothesis makes them up."""

from datetime import UTC, datetime
from typing import get_args

from hypothesis import strategies as st
from pydantic import JsonValue

from patchwright.core.events.payload import Payload, ToolCall
from patchwright.core.events.types import Known

PAYLOADS: tuple[type[Payload], ...] = get_args(Known)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
    ),
    max_leaves=5,
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=2)
AT = st.datetimes(min_value=datetime(2001, 1, 1)).map(  # noqa: DTZ001 - made aware below
    lambda moment: moment.replace(tzinfo=UTC)
)
# What pydantic's types do not tell Hypothesis: these hold any JSON.
_ANY_JSON: dict[str, st.SearchStrategy[object]] = {
    "reasoning": st.lists(OBJECTS, max_size=2).map(tuple),
    "action": OBJECTS,
}
st.register_type_strategy(str, TEXT)
st.register_type_strategy(datetime, AT)
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
st.register_type_strategy(
    ToolCall, st.builds(ToolCall, id=TEXT, name=TEXT, arguments=TEXT)
)


@st.composite
def payloads(draw: st.DrawFn) -> Payload:
    kind = draw(st.sampled_from(PAYLOADS))
    fields = kind.model_fields
    fixed = {name: made for name, made in _ANY_JSON.items() if name in fields}
    if fields.get("arguments"):
        fixed["arguments"] = OBJECTS
    return draw(st.builds(kind, kind=st.just(fields["kind"].default), **fixed))
