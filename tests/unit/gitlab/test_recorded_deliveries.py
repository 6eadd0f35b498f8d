"""Every delivery that was recorded is read, or ignored by its name."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.types.errors import PayloadError
from patchwright.core.types.triggers import (
    Ignored,
    Notice,
    ParsedWebhook,
    Trigger,
)
from patchwright.integrations.gitlab.webhooks.reader import KINDS, read_delivery
from patchwright.integrations.gitlab.webhooks.triggers import (
    GitLabTriggerRules,
    is_bot_name,
)

# The people in the recordings; the label is one that was put on there.
RULES = GitLabTriggerRules(
    mention="@patchwright", label="Platform", own_id=999, own_login="robot"
)
FOLDERS = ("webhooks", "webhooks-older")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def words_of(reading: ParsedWebhook) -> str:
    match reading:
        case Ignored():
            return reading.reason
        case Trigger():
            hidden = f", {reading.thread.audience}" if reading.thread.audience else ""
            return f"{reading.kind}{hidden}"
        case _:
            return type(reading).__name__


EXPECTED = {
    "webhooks/build.json": "pipeline-tells-jobs",
    "webhooks/emoji_award_merge_request.json": "reaction-not-read",
    "webhooks/emoji_revoke_issue.json": "reaction-not-read",
    # Its label was put on before it was opened, and it is told with the opening.
    "webhooks/issue.json": "no-mention",
    "webhooks/job.json": "pipeline-tells-jobs",
    "webhooks/merge_request.json": "no-mention",
    "webhooks/note_commit.json": "note-elsewhere",
    "webhooks/note_issue.json": "reply",
    "webhooks/note_merge_request.json": "reply",
    "webhooks/note_snippet.json": "note-elsewhere",
    "webhooks/pipeline.json": "checks",
    "webhooks/push.json": "BaseMoved",
    "webhooks/tag_push.json": "no-branch",
    "webhooks-older/comment-issue-event.json": "reply",
    "webhooks-older/comment-merge-request-event.json": "reply",
    "webhooks-older/confidential-comment-event.json": "reply, internal",
    "webhooks-older/confidential-issue-event.json": "no-mention",
    "webhooks-older/issue-event.json": "no-mention",
    "webhooks-older/merge-request-event.json": "no-mention",
    "webhooks-older/pipeline-event.json": "checks",
}


def test_every_recording_is_read_or_ignored_by_name(corpus: Path | None) -> None:
    if corpus is None:
        return
    folder = corpus / "gitlab"
    files = [file for name in FOLDERS for file in (folder / name).glob("*.json")]
    found = {
        f"{file.parent.name}/{file.name}": words_of(
            read_delivery(file.read_bytes(), RULES)
        )
        for file in files
    }
    assert found == EXPECTED


def test_every_recorded_text_that_mentions_us_asks(corpus: Path | None) -> None:
    if corpus is None:
        return
    for file in (corpus / "gitlab" / "webhooks").glob("*.json"):
        payload = json.loads(file.read_bytes())
        kind, about = payload["object_kind"], payload.get("object_attributes", {})
        field = "note" if kind == "note" else "description"
        if kind not in {"issue", "merge_request", "note"} or "commit" in payload:
            continue
        about[field] = "@patchwright please"
        reading = read_delivery(json.dumps(payload).encode(), RULES)
        if "snippet" in payload:
            assert reading == Ignored(reason="note-elsewhere")
        else:
            assert isinstance(reading, Trigger), file
            assert reading.request == "please"


WHOLE: dict[str, Any] = {
    "user": {"id": 7, "username": "ann"},
    "project": {"id": 3, "path_with_namespace": "group/sub/app"},
    "object_attributes": {
        "id": 9,
        "iid": 5,
        "note": "@patchwright go",
        "description": "@patchwright go",
        "noteable_type": "Issue",
        "status": "failed",
    },
    "issue": {"iid": 5, "title": "It breaks"},
    "ref": "refs/heads/main",
    "after": "0a",
    "path_with_namespace": "a/b",
    "old_path_with_namespace": "a/c",
}
INNER = sorted({*WHOLE["object_attributes"], "labels", "last_commit", "confidential"})


@given(
    kind=st.sampled_from(sorted(KINDS)),
    action=st.sampled_from(("open", "update", "create", "close", "merge", "")),
    field=st.sampled_from(sorted({*WHOLE, "changes", "merge_request", "labels"})),
    inner=st.sampled_from(INNER),
    value=JSON,
)
def test_any_json_is_a_reading_or_a_payload_error(
    *, kind: str, action: str, field: str, inner: str, value: object
) -> None:
    about = {**WHOLE["object_attributes"], "action": action}
    whole = {"object_kind": kind, **WHOLE, "object_attributes": about}
    for payload in (
        {**whole, field: value},
        {**whole, "object_attributes": {**about, inner: value}},
    ):
        try:
            reading = read_delivery(json.dumps(payload).encode(), RULES)
        except PayloadError:
            continue
        assert isinstance(reading, Trigger | Ignored | Notice)


@pytest.mark.parametrize(
    ("name", "is_bot"),
    [
        ("project_123_bot", True),
        ("project_123_bot1", True),
        ("group_12_bot_4ffca233d8298ea1", True),
        ("service_account_group_1_ab", True),
        ("GitLabDuo", True),
        ("ann", False),
        ("projectbot", False),
        ("ann.project_1_bot", False),
        ("robot-maker", False),
    ],
)
def test_names_that_gitlab_gives_to_bots(*, name: str, is_bot: bool) -> None:
    assert is_bot_name(name) is is_bot
