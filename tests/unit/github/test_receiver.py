"""Only bytes that were signed by a secret of ours are looked at."""

import hashlib
import hmac
import json
from urllib.parse import urlencode

import pytest
from pydantic import SecretStr

from patchwright.core.types.errors import PayloadError, SettingsError, SignatureError
from patchwright.core.types.triggers import Ignored, Trigger
from patchwright.integrations.github.webhooks.reader import GitHubReceiver
from patchwright.integrations.http.signatures import verify_sha256
from tests.unit.github.samples import LISTENING, comment

NEW, OLD = SecretStr("new secret"), SecretStr("old secret")
BODY = json.dumps(comment("@patchwright fix it")).encode()


def sign(body: bytes, secret: SecretStr = NEW) -> str:
    key = secret.get_secret_value().encode()
    return f"sha256={hmac.new(key, body, hashlib.sha256).hexdigest()}"


def headers(signature: str, event: str = "issue_comment") -> dict[str, str]:
    return {"X-GitHub-Event": event, "X-Hub-Signature-256": signature}


@pytest.fixture
def receiver() -> GitHubReceiver:
    return GitHubReceiver([NEW, OLD], LISTENING)


@pytest.mark.parametrize("secret", [NEW, OLD])
def test_delivery_signed_with_either_secret_is_read(
    receiver: GitHubReceiver, secret: SecretStr
) -> None:
    reading = receiver.read(headers(sign(BODY, secret)), BODY)
    assert isinstance(reading, Trigger)


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "sha256=",
        sign(BODY, SecretStr("a guess")),
        sign(BODY).removeprefix("sha256="),
        sign(BODY).upper(),
        sign(BODY) + " ",
        sign(BODY).replace("sha256", "sha1"),
        "sha256=é",
    ],
)
def test_other_signatures_are_refused(receiver: GitHubReceiver, signature: str) -> None:
    with pytest.raises(SignatureError):
        receiver.read(headers(signature), BODY)


def test_signature_of_other_bytes_is_refused(receiver: GitHubReceiver) -> None:
    with pytest.raises(SignatureError):
        receiver.read(headers(sign(BODY)), BODY + b" ")


def test_delivery_without_a_signature_is_refused(receiver: GitHubReceiver) -> None:
    with pytest.raises(SignatureError):
        receiver.read({"X-GitHub-Event": "ping"}, BODY)


def test_bad_signature_is_noticed_before_a_bad_body(receiver: GitHubReceiver) -> None:
    with pytest.raises(SignatureError):
        receiver.read(headers("sha256=0"), b"no json")
    with pytest.raises(PayloadError):
        receiver.read(headers(sign(b"no json")), b"no json")


@pytest.mark.parametrize("secrets", [[], [SecretStr("")], [NEW, SecretStr("")]])
def test_empty_secret_is_a_wrong_setting(secrets: list[SecretStr]) -> None:
    with pytest.raises(SettingsError, match=r"github\.webhook_secret"):
        GitHubReceiver(secrets, LISTENING)


def test_empty_secret_signs_nothing() -> None:
    empty = SecretStr("")
    with pytest.raises(SignatureError):
        verify_sha256(BODY, sign(BODY, empty), [empty])


def test_event_without_a_name_is_malformed(receiver: GitHubReceiver) -> None:
    with pytest.raises(PayloadError, match="names no event"):
        receiver.read({"x-hub-signature-256": sign(BODY)}, BODY)


def test_ping_is_ignored(receiver: GitHubReceiver) -> None:
    reading = receiver.read(headers(sign(b"{}"), "ping"), b"{}")
    assert reading == Ignored(reason="event-not-read")


def test_form_is_read_like_json(receiver: GitHubReceiver) -> None:
    form = urlencode({"payload": BODY.decode()}).encode()
    sent = headers(sign(form)) | {
        "content-type": "application/x-www-form-urlencoded; charset=utf-8"
    }
    assert isinstance(receiver.read(sent, form), Trigger)
    with pytest.raises(PayloadError):
        receiver.read(sent | {"X-Hub-Signature-256": sign(b"a=1")}, b"a=1")
