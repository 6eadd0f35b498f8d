"""Only what comes from somebody who has a secret of ours is looked at."""

import base64
import hashlib
import hmac
import json
from collections.abc import Sequence
from datetime import timedelta

import pytest
from pydantic import SecretStr

from patchwright.core.types.errors import PayloadError, SettingsError, SignatureError
from patchwright.core.types.triggers import Ignored, Trigger
from patchwright.integrations.gitlab.webhooks.reader import GitLabReceiver
from patchwright.integrations.gitlab.webhooks.triggers import GitLabTriggerRules
from tests.fakes.clock import START as NOW

RULES = GitLabTriggerRules(mention="@patchwright", own_id=1, own_login="robot")
NEW, OLD = SecretStr("new secret"), SecretStr("old secret")
KEY, OLD_KEY = b"k" * 32, b"o" * 32
NOTE = {
    "object_kind": "note",
    "user": {"id": 7, "username": "ann"},
    "project": {"id": 3, "path_with_namespace": "group/sub/app"},
    "object_attributes": {
        "id": 9,
        "note": "@patchwright mend it",
        "noteable_type": "Issue",
        "action": "create",
    },
    "issue": {"iid": 5, "title": "It breaks"},
}
BODY = json.dumps(NOTE).encode()


def receiver(
    secrets: Sequence[SecretStr] = (NEW, OLD), keys: Sequence[bytes] = ()
) -> GitLabReceiver:
    return GitLabReceiver(secrets, keys, RULES, lambda: NOW)


def signed(
    key: bytes = KEY, *, age: timedelta = timedelta(), identifier: str = "d-1"
) -> dict[str, str]:
    """Sign as the vendor's page says, and not by our own function."""
    timestamp = str(int((NOW - age).timestamp()))
    text = f"{identifier}.{timestamp}.".encode() + BODY
    digest = hmac.new(key, text, hashlib.sha256).digest()
    return {
        "webhook-id": identifier,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


@pytest.mark.parametrize("secret", [NEW, OLD])
def test_s17_token_of_a_gitlab_webhook_is_compared_as_it_is(secret: SecretStr) -> None:
    headers = {"X-Gitlab-Token": secret.get_secret_value()}
    assert isinstance(receiver().read(headers, BODY), Trigger)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Gitlab-Token": ""},
        {"X-Gitlab-Token": "a guess"},
        {"X-Gitlab-Token": "new secret "},
        {"X-Gitlab-Token": "NEW SECRET"},
        {"X-Gitlab-Token": "n\u00e9w secret"},
        # What GitHub's hooks carry is nothing here.
        {"X-Hub-Signature-256": "sha256=0"},
    ],
)
def test_anything_else_is_refused_unread(headers: dict[str, str]) -> None:
    with pytest.raises(SignatureError):
        receiver().read(headers, b"not even JSON")


def test_service_without_a_secret_does_not_start() -> None:
    for secrets in ((), (SecretStr(""),), (NEW, SecretStr(""))):
        with pytest.raises(SettingsError, match=r"gitlab\.webhook_secret is empty"):
            receiver(secrets)


@pytest.mark.parametrize("key", [KEY, OLD_KEY])
def test_either_signing_key_opens(key: bytes) -> None:
    assert isinstance(receiver((), [KEY, OLD_KEY]).read(signed(key), BODY), Trigger)


def test_one_of_several_signatures_is_enough() -> None:
    headers = signed()
    headers["webhook-signature"] = f"v1a,xyz v1,AAAA {headers['webhook-signature']}"
    assert isinstance(receiver((), [KEY]).read(headers, BODY), Trigger)


@pytest.mark.parametrize(
    "changed",
    [
        {"webhook-signature": "v1,AAAA"},
        {"webhook-signature": ""},
        {"webhook-id": "another"},
        {"webhook-id": ""},
        {"webhook-timestamp": "soon"},
        {"webhook-timestamp": "9" * 40},
        {"webhook-timestamp": "-1"},
    ],
)
def test_wrong_signature_is_refused(changed: dict[str, str]) -> None:
    with pytest.raises(SignatureError):
        receiver((), [KEY]).read({**signed(), **changed}, BODY)


@pytest.mark.parametrize("age", [timedelta(minutes=6), timedelta(minutes=-6)])
def test_old_or_early_delivery_is_refused(age: timedelta) -> None:
    with pytest.raises(SignatureError, match="five minutes"):
        receiver((), [KEY]).read(signed(age=age), BODY)


def test_changed_body_is_refused() -> None:
    with pytest.raises(SignatureError):
        receiver((), [KEY]).read(signed(), BODY + b" ")


def test_secret_alone_does_not_open_where_a_signature_is_wanted() -> None:
    headers = {"X-Gitlab-Token": NEW.get_secret_value()}
    with pytest.raises(SignatureError, match="is not signed"):
        receiver((NEW,), [KEY]).read(headers, BODY)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "is not a JSON object"),
        (b"[]", "is not a JSON object"),
        (b"{}", "names no event"),
        (b'{"object_kind": "note"}', "note delivery is malformed at 'user'"),
        (
            json.dumps(
                {**NOTE, "project": {"id": 1, "path_with_namespace": "a/../b"}}
            ).encode(),
            "malformed at 'project.path_with_namespace'",
        ),
    ],
)
def test_malformed_delivery_is_told(body: bytes, words: str) -> None:
    with pytest.raises(PayloadError) as malformed:
        receiver().read({"X-Gitlab-Token": "new secret"}, body)
    assert words in str(malformed.value)


def test_unknown_event_is_ignored_by_name() -> None:
    reading = receiver().read(
        {"X-Gitlab-Token": "new secret"}, b'{"object_kind": "something_new"}'
    )
    assert reading == Ignored(reason="event-not-read")
