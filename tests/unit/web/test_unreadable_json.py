"""JSON that Python cannot read, signed all the same, is refused at each door."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from pydantic import SecretStr
from slack_sdk.signature import SignatureVerifier

from patchwright.core.types.errors import PayloadError, SettingsError
from patchwright.core.types.triggers import ParsedWebhook, Trigger
from patchwright.integrations.github.ci.gate import read_event
from patchwright.integrations.github.ci.workflow import read_inputs, read_workflow_job
from patchwright.integrations.github.webhooks.reader import GitHubReceiver
from patchwright.integrations.http.signatures import sign_sha256
from patchwright.integrations.jira.webhooks.reader import JiraReceiver
from patchwright.integrations.slack.webhooks.reader import (
    SlackReceiver,
    delivery_id,
)
from tests.fakes.clock import FakeClock
from tests.unit.github import samples as github
from tests.unit.jira import samples as jira
from tests.unit.slack import samples as slack

SECRET = SecretStr("a secret of the webhook")
FORM = {"content-type": "application/x-www-form-urlencoded"}
DEEP = "[" * 100_000 + "]" * 100_000
LONG = "9" * 5_000
UNREADABLE = pytest.mark.parametrize("value", [DEEP, LONG, "[", "{" * 100_000])

Door = Callable[[bytes], ParsedWebhook]


def to_github(body: bytes) -> ParsedWebhook:
    signature = sign_sha256(body, SECRET.get_secret_value())
    headers = {"x-hub-signature-256": signature, "x-github-event": "issue_comment"}
    return GitHubReceiver([SECRET], github.LISTENING).read(headers, body)


def to_github_as_form(body: bytes) -> ParsedWebhook:
    form = urlencode({"payload": body}).encode()
    signature = sign_sha256(form, SECRET.get_secret_value())
    headers = {"x-hub-signature-256": signature, "x-github-event": "issue_comment"}
    return GitHubReceiver([SECRET], github.LISTENING).read(headers | FORM, form)


def to_jira(body: bytes) -> ParsedWebhook:
    headers = {"x-hub-signature": sign_sha256(body, SECRET.get_secret_value())}
    return JiraReceiver([SECRET], jira.LISTENING).read(headers, body)


def to_slack(body: bytes) -> ParsedWebhook:
    return _signed_for_slack({}, body)


def to_slack_as_form(body: bytes) -> ParsedWebhook:
    return _signed_for_slack(FORM, urlencode({"payload": body}).encode())


def _signed_for_slack(headers: dict[str, str], body: bytes) -> ParsedWebhook:
    clock = FakeClock()
    stamp = str(int(clock.now().timestamp()))
    verifier = SignatureVerifier(SECRET.get_secret_value())
    signature = verifier.generate_signature(timestamp=stamp, body=body)
    signed = {
        "x-slack-request-timestamp": stamp,
        "x-slack-signature": str(signature),
    }
    assert delivery_id(headers, body)
    receiver = SlackReceiver([SECRET], slack.LISTENING, clock)
    return receiver.read(headers | signed, body)


ASKED: dict[Door, dict[str, Any]] = {
    to_github: github.comment("@patchwright go"),
    to_github_as_form: github.comment("@patchwright go"),
    to_jira: jira.comment("@patchwright go"),
    to_slack: slack.envelope(slack.mention()),
    to_slack_as_form: slack.envelope(slack.mention()),
}
DOORS = pytest.mark.parametrize("door", ASKED, ids=lambda door: door.__name__)


@DOORS
@UNREADABLE
def test_a_delivery_that_cannot_be_read_is_malformed_and_no_more(
    door: Door, value: str
) -> None:
    whole = json.dumps(ASKED[door] | {"unread": 0})
    for text in (value, whole.replace('"unread": 0', f'"unread": {value}')):
        with pytest.raises(PayloadError):
            door(text.encode())


@DOORS
def test_the_last_of_two_fields_counts_and_what_is_no_number_is_passed_over(
    door: Door,
) -> None:
    asked = json.dumps(ASKED[door] | {"unread": 0})
    strange = asked.replace('"unread": 0', '"unread": NaN, "unread": [-Infinity]')
    twice = '{"type": "x", "action": "y", "webhookEvent": "z",' + strange[1:]
    assert isinstance(door(twice.encode()), Trigger)


@UNREADABLE
def test_an_event_of_a_workflow_that_cannot_be_read_is_said_to_be_so(
    tmp_path: Path, value: str
) -> None:
    file = tmp_path / "event.json"
    file.write_text(f'{{"issue": {value}}}')
    environ = {
        "GITHUB_EVENT_PATH": str(file),
        "GITHUB_EVENT_NAME": "issues",
        "GITHUB_REPOSITORY": "acme/shop",
        "PATCHWRIGHT_ACTION_FOLDER": str(tmp_path),
        "PATCHWRIGHT_ACTION_INPUTS": "{}",
    }
    with pytest.raises(SettingsError, match="cannot be read as JSON"):
        read_workflow_job(environ)
    with pytest.raises(SystemExit, match="cannot be read as JSON"):
        read_event(file)
    with pytest.raises(SettingsError, match="not a JSON object"):
        read_inputs(f'{{"mode": {value}}}')
