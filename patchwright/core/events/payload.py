"""What every payload of an event has, and the few words that several of them share."""

from enum import StrEnum
from typing import Literal

from patchwright.core.types.base import Value


class Source(StrEnum):
    USER = "user"
    AGENT = "agent"
    ENVIRONMENT = "environment"
    SYSTEM = "system"


class AgentState(StrEnum):
    LOADING = "loading"
    RUNNING = "running"
    PAUSED = "paused"
    AWAITING_USER_INPUT = "awaiting-user-input"
    AWAITING_USER_CONFIRMATION = "awaiting-user-confirmation"
    USER_CONFIRMED = "user-confirmed"
    USER_REJECTED = "user-rejected"
    RATE_LIMITED = "rate-limited"
    FINISHED = "finished"
    REJECTED = "rejected"
    STOPPED = "stopped"
    ERROR = "error"


class Risk(StrEnum):
    """How much harm an action could do; UNKNOWN is for what nobody has judged."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    UNKNOWN = "unknown"


class Payload(Value):
    """What every payload has.

    `call_id` is the model's tool call that it belongs to, if any. `agent` is the
    delegate whose doing it is: the id of the event that asked for the delegate, as
    text; empty for the run's own agent.
    """

    call_id: str = ""
    agent: str = ""


class ToolCall(Value):
    """One tool call of a reply; `arguments` is always a JSON object, as text."""

    id: str
    name: str
    arguments: str


class Todo(Value):
    """One step of the agent's plan."""

    text: str
    state: Literal["open", "doing", "done"] = "open"
