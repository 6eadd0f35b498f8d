"""A model provider for tests, over real HTTP on loopback."""

from tests.fakes.llm.anthropic import FakeAnthropic
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import (
    Call,
    Turn,
    broken_call,
    call,
    drop,
    hang,
    no_choices,
    raw,
    say,
    status,
    with_usage,
)

__all__ = [
    "Call",
    "FakeAnthropic",
    "FakeProvider",
    "Turn",
    "broken_call",
    "call",
    "drop",
    "hang",
    "no_choices",
    "raw",
    "say",
    "status",
    "with_usage",
]
