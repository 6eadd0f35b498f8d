"""Whatever is sent, it is read, ignored by name, or called malformed; nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.types.errors import PayloadError
from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.triggers import Ignored, Notice, Trigger, TriggerKind
from patchwright.integrations.github.webhooks.reader import EVENTS, read_delivery
from patchwright.integrations.github.webhooks.triggers import GitHubTriggerRules
from tests.provision import environment
from tests.unit.github.samples import (
    LISTENING,
    comment,
    issue,
    read_json,
    review,
    trigger_of,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
FIELDS = (
    "issue",
    "pull_request",
    "discussion",
    "comment",
    "review",
    "changes",
    "label",
    "assignee",
    "sender",
    "check_suite",
    "branches",
    "sha",
    "state",
    "repository",
    "installation",
    "ref",
)
ACTIONS = ("opened", "edited", "created", "submitted", "labeled", "assigned", "closed")


@given(
    event=st.sampled_from(sorted(EVENTS)),
    action=st.sampled_from(ACTIONS),
    field=st.sampled_from(FIELDS),
    value=JSON,
)
def test_any_json_is_a_reading_or_a_payload_error(
    event: str, action: str, field: str, value: object
) -> None:
    whole = review("@patchwright go") | comment("@patchwright go", action)
    whole |= {"discussion": issue(), "installation": {"id": 1}}
    try:
        reading = read_json(event, whole | {field: value})
    except PayloadError:
        return
    assert isinstance(reading, Trigger | Ignored | Notice)


def outside_deliveries() -> list[tuple[str, str]]:
    """List event and file of each outside example, where there are any."""
    corpus = environment.corpus()
    if corpus is None:
        return []
    folder = corpus / "github"
    index = json.loads((folder / "webhooks-index.json").read_text())
    return [(entry["event"], str(folder / entry["file"])) for entry in index]


def test_every_outside_delivery_is_read() -> None:
    for event, file in outside_deliveries():
        reading = read_delivery(event, Path(file).read_bytes(), LISTENING)
        assert isinstance(reading, Trigger | Ignored | Notice), file


def test_every_outside_text_that_mentions_us_is_a_trigger() -> None:
    for event, file in outside_deliveries():
        payload = json.loads(Path(file).read_bytes())
        text = payload.get("comment") or payload.get("review")
        if event not in EVENTS or not text or payload["action"] not in WRITTEN:
            continue
        text["body"] = "@patchwright please"
        assert trigger_of(event, payload).request == "please", file


WRITTEN = {"created", "submitted"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("check_suite.completed.failure", TriggerKind.CHECKS),
        ("pull_request_review.submitted.changes_requested", TriggerKind.REVIEW),
        ("issues.labeled.with-installation", TriggerKind.LABEL),
    ],
)
def test_outside_delivery_is_the_trigger_it_should_be(
    corpus: Path | None, name: str, kind: TriggerKind
) -> None:
    if corpus is None:
        return
    file = corpus / "github" / "webhooks-derived" / f"{name}.json"
    ours = GitHubTriggerRules(
        mention="@patchwright", label="bug", own_login="Codertocat"
    )
    event = name.partition(".")[0]
    payload: dict[str, Any] = json.loads(file.read_bytes())
    payload["sender"] = {"login": "somebody"}
    if "review" in payload:
        payload["review"]["user"] = {"login": "somebody"}
    reading = read_delivery(event, json.dumps(payload).encode(), ours)
    assert isinstance(reading, Trigger), reading
    assert reading.kind is kind


def test_outside_comment_on_a_pull_request_is_one(corpus: Path | None) -> None:
    payload: dict[str, Any] = comment("x", issue=issue(pull_request={}))
    if corpus:
        folder = corpus / "github" / "webhooks-derived"
        file = folder / "issue_comment.created.on-pull-request.json"
        payload = json.loads(file.read_text())
    payload["comment"]["body"] = "@patchwright please"
    thread = trigger_of("issue_comment", payload).thread
    assert thread.kind is ThreadKind.PULL_REQUEST
