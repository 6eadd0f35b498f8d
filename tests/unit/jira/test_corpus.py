"""Whatever is sent, it is read, ignored by name, or called malformed; nothing else."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.types.errors import PayloadError, TenantError
from patchwright.core.types.triggers import Ignored, Trigger, TriggerKind
from patchwright.integrations.jira.webhooks.reader import EVENTS, read_delivery
from patchwright.integrations.jira.webhooks.triggers import JiraTriggerRules
from tests.provision import environment
from tests.unit.jira.samples import item, read_json, said, updated

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
FIELDS = ("issue", "comment", "changelog", "user", "timestamp")
PARTS = ("fields", "items", "body", "author", "id", "key", "self")


@given(
    event=st.sampled_from(sorted(EVENTS)),
    field=st.sampled_from(FIELDS),
    part=st.sampled_from((None, *PARTS)),
    value=JSON,
)
def test_any_json_is_a_reading_or_an_error_of_ours(
    event: str, field: str, part: str | None, value: object
) -> None:
    change = item("labels", "", "fix-me")
    whole = updated(change, comment=said("@patchwright go"), webhookEvent=event)
    if part is None:
        whole[field] = value
    elif isinstance(whole[field], dict):
        whole[field] = whole[field] | {part: value}
    try:
        reading = read_json(whole)
    except (PayloadError, TenantError):
        return
    assert isinstance(reading, Trigger | Ignored)


def outside_deliveries() -> list[Path]:
    """List the outside examples, where there are any."""
    corpus = environment.corpus()
    return sorted(corpus.glob("jira/webhooks/*/*.json")) if corpus else []


def at_home(payload: dict[str, Any], own_ids: frozenset[str]) -> JiraTriggerRules:
    """Serve the site and the project that a delivery comes from."""
    address = (payload.get("issue") or payload["comment"])["self"]
    key = payload.get("issue", {}).get("key", "")
    return JiraTriggerRules(
        host=urlsplit(address).netloc,
        projects=frozenset({key.partition("-")[0]}),
        mention="@patchwright",
        label="test-label",
        own_ids=own_ids,
    )


def outcome(file: Path, own_id: str = "patchwright") -> str:
    payload = json.loads(file.read_bytes())
    reading = read_delivery(file.read_bytes(), at_home(payload, frozenset({own_id})))
    assert isinstance(reading, Trigger | Ignored), file
    return reading.kind if isinstance(reading, Trigger) else reading.reason


def test_every_outside_delivery_is_read() -> None:
    outcomes = {file.stem: outcome(file) for file in outside_deliveries()}
    usual = {"no-request", "event-not-read", "no-issue", "nothing-changed", "reply"}
    odd = {name: word for name, word in outcomes.items() if word not in usual}
    assert set(odd.values()) <= {"label", "no-mention"}, odd


def test_every_outside_delivery_of_another_site_is_refused() -> None:
    for file in outside_deliveries():
        with pytest.raises(TenantError):
            read_json(json.loads(file.read_bytes()))


def test_s19_every_outside_delivery_of_another_project_is_ignored() -> None:
    for file in outside_deliveries():
        payload = json.loads(file.read_bytes())
        ours = at_home(payload, frozenset()).replace(projects=frozenset({"NONE"}))
        assert isinstance(read_delivery(file.read_bytes(), ours), Ignored), file


@pytest.mark.parametrize(
    ("name", "own_id", "kind"),
    [
        ("cloud/issue-updated-assigned", "admin", TriggerKind.ASSIGNMENT),
        ("cloud/issue-updated-assigned-on-server", "admin", TriggerKind.ASSIGNMENT),
        ("server/old-issue-updated-no-event-type-assigned", "admin", "assignment"),
        ("cloud/issue-created", "patchwright", TriggerKind.LABEL),
        ("cloud/issue-updated-labels", "patchwright", "no-request"),
        ("cloud/comment-created-mention-user", "user", TriggerKind.COMMENT_MENTION),
        (
            "cloud/comment_created_with_account_mention",
            "63a22fb348b367d78a14c15b",
            TriggerKind.COMMENT_MENTION,
        ),
        ("server/issue-updated-commented-3", "SomeOtherUser", "comment-mention"),
        ("server/issue-updated-commented-2", "SomeOtherUser", TriggerKind.REPLY),
        ("server/comment-created", "patchwright", "no-issue"),
    ],
)
def test_outside_delivery_is_what_it_should_be(
    corpus: Path | None, name: str, own_id: str, kind: str
) -> None:
    if corpus is None:
        return
    file = corpus / "jira" / "webhooks" / f"{name}.json"
    payload = json.loads(file.read_bytes())
    # Whoever acts there is somebody else.
    if "user" in payload:
        payload["user"] = {"accountId": "somebody", "displayName": "Somebody"}
    reading = read_delivery(
        json.dumps(payload).encode(), at_home(payload, frozenset({own_id}))
    )
    word = reading.kind if isinstance(reading, Trigger) else reading
    assert kind in (word, getattr(word, "reason", ""))
