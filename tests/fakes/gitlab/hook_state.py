"""Webhooks of projects and of the whole server, and how their deliveries went."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

# What a hook may listen to, in the words of the API.
FLAGS = (
    "push_events",
    "tag_push_events",
    "issues_events",
    "confidential_issues_events",
    "note_events",
    "confidential_note_events",
    "merge_requests_events",
    "job_events",
    "pipeline_events",
    "emoji_events",
)


@dataclass(frozen=True, kw_only=True)
class Hook:
    """A webhook; one without a project is the server's own, for system events."""

    id: int
    project: int | None
    url: str
    token: str
    signing_token: str
    created_at: datetime
    events: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class HookAttempt:
    """One try to bring a delivery to the address of a hook."""

    id: int
    hook: int
    key: str
    trigger: str
    url: str
    status: str
    request_headers: Mapping[str, str]
    request_body: bytes
    response_body: bytes
    created_at: datetime
