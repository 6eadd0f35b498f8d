"""Only bytes that were signed by a secret of ours, and lately, are looked at."""

import hashlib
import hmac
import json
from urllib.parse import urlencode

import pytest
from pydantic import SecretStr
from slack_sdk.signature import SignatureVerifier

from patchwright.core.types.errors import PayloadError, SettingsError, SignatureError
from patchwright.core.types.triggers import Ignored, Trigger
from patchwright.integrations.slack.webhooks.reader import (
    SlackReceiver,
    SocketReceiver,
    delivery_id,
)
from tests.fakes.clock import START, FakeClock
from tests.unit.slack.samples import (
    LISTENING,
    command,
    envelope,
    interaction,
    mention,
    press,
)

NEW, OLD = SecretStr("new secret"), SecretStr("old secret")
NOW = int(START.timestamp())
BODY = json.dumps(envelope(mention("<@UBOT> größer & kleiner"))).encode()
ARABIC = str(NOW).translate({ord(str(n)): chr(0x660 + n) for n in range(10)})
FORM = "application/x-www-form-urlencoded"


def signature(body: bytes, secret: SecretStr = NEW, stamp: str = str(NOW)) -> str:
    key = secret.get_secret_value().encode()
    signed = b"v0:" + stamp.encode() + b":" + body
    return f"v0={hmac.new(key, signed, hashlib.sha256).hexdigest()}"


def headers(signed: str, stamp: str = str(NOW), **others: str) -> dict[str, str]:
    usual = {"X-Slack-Signature": signed, "X-Slack-Request-Timestamp": stamp}
    return {"Content-Type": "application/json"} | usual | others


@pytest.fixture
def receiver() -> SlackReceiver:
    return SlackReceiver([NEW, OLD], LISTENING, FakeClock())


@pytest.mark.parametrize("secret", [NEW, OLD])
def test_delivery_signed_with_either_secret_is_read(
    receiver: SlackReceiver, secret: SecretStr
) -> None:
    reading = receiver.read(headers(signature(BODY, secret)), BODY)
    assert isinstance(reading, Trigger)


@pytest.mark.parametrize(
    "signed",
    [
        "",
        "v0=",
        signature(BODY, SecretStr("a guess")),
        signature(BODY).removeprefix("v0="),
        signature(BODY).upper(),
        signature(BODY) + " ",
        signature(BODY).replace("v0", "v1"),
        signature(BODY, stamp=str(NOW - 1)),
        "v0=é",
    ],
)
def test_other_signatures_are_refused(receiver: SlackReceiver, signed: str) -> None:
    with pytest.raises(SignatureError):
        receiver.read(headers(signed), BODY)


def test_signature_of_other_bytes_is_refused(receiver: SlackReceiver) -> None:
    with pytest.raises(SignatureError):
        receiver.read(headers(signature(BODY)), BODY + b" ")


def test_delivery_without_a_signature_is_refused(receiver: SlackReceiver) -> None:
    with pytest.raises(SignatureError):
        receiver.read({}, BODY)


@pytest.mark.parametrize("age_s", [-300, 0, 300])
def test_delivery_of_the_last_minutes_is_read(
    receiver: SlackReceiver, age_s: int
) -> None:
    stamp = str(NOW - age_s)
    sent = headers(signature(BODY, stamp=stamp), stamp)
    assert isinstance(receiver.read(sent, BODY), Trigger)


@pytest.mark.parametrize(
    "stamp",
    [str(NOW - 301), str(NOW + 301), "0", "", "now", f"{NOW}.0", ARABIC, "9" * 5000],
)
def test_delivery_of_another_time_is_refused(
    receiver: SlackReceiver, stamp: str
) -> None:
    with pytest.raises(SignatureError, match="too long ago"):
        receiver.read(headers(signature(BODY, stamp=stamp), stamp), BODY)


def test_bad_signature_is_noticed_before_a_bad_body(receiver: SlackReceiver) -> None:
    with pytest.raises(SignatureError):
        receiver.read(headers("v0=0"), b"no json")
    with pytest.raises(PayloadError):
        receiver.read(headers(signature(b"no json")), b"no json")


@pytest.mark.parametrize(
    "secrets", [[], [SecretStr("")], [NEW, SecretStr("")], [NEW, SecretStr(" ")]]
)
def test_empty_secret_is_a_wrong_setting(secrets: list[SecretStr]) -> None:
    with pytest.raises(SettingsError, match=r"slack\.signing_secret"):
        SlackReceiver(secrets, LISTENING, FakeClock())


def test_slacks_own_library_signs_the_same() -> None:
    verifier = SignatureVerifier(NEW.get_secret_value())
    theirs = verifier.generate_signature(timestamp=str(NOW), body=BODY)
    assert signature(BODY) == theirs


def test_bytes_that_are_no_text_are_refused_even_signed(
    receiver: SlackReceiver,
) -> None:
    with pytest.raises(SignatureError, match="signature of the webhook is wrong"):
        receiver.read(headers(signature(b"\xff")), b"\xff")


@pytest.mark.parametrize(
    "form",
    [
        urlencode(command("größer & kleiner")).encode(),
        urlencode({"payload": json.dumps(interaction("shortcut"))}).encode(),
        urlencode({"token": "random", "ssl_check": "1"}).encode(),
    ],
)
def test_forms_are_read_like_json(receiver: SlackReceiver, form: bytes) -> None:
    sent = headers(signature(form)) | {"Content-Type": f"{FORM}; charset=utf-8"}
    reading = receiver.read(sent, form)
    assert isinstance(reading, Trigger | Ignored)
    if isinstance(reading, Trigger):
        assert reading.request == "größer & kleiner"


@pytest.mark.parametrize(
    "form", [b"payload=%7B", b"%ff=%ff", b"command=%2Fpatchwright"]
)
def test_forms_that_make_no_sense_are_malformed(
    receiver: SlackReceiver, form: bytes
) -> None:
    sent = headers(signature(form)) | {"content-type": FORM}
    if form == b"%ff=%ff":
        assert receiver.read(sent, form) == Ignored(reason="type-not-read")
        return
    with pytest.raises(PayloadError):
        receiver.read(sent, form)


def test_what_comes_through_our_own_connection_needs_no_signature() -> None:
    assert isinstance(SocketReceiver(LISTENING).read({}, BODY), Trigger)


def test_s68_a_repeated_delivery_has_the_same_name() -> None:
    again = {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}
    first = delivery_id({}, BODY)
    assert first == delivery_id(again, BODY) == "Ev1"


def test_interactions_and_commands_are_named_as_well() -> None:
    sent = {"content-type": FORM}
    pressed = urlencode({"payload": json.dumps(press({}))}).encode()
    assert delivery_id(sent, pressed) == "111.222.abc"
    typed = urlencode(command("x")).encode()
    assert delivery_id(sent, typed) == "111.222.abc"


@pytest.mark.parametrize("body", [b"{}", b"no json", b"[1]"])
def test_delivery_without_a_name_is_named_after_its_bytes(body: bytes) -> None:
    assert delivery_id({}, body) == hashlib.sha256(body).hexdigest()
