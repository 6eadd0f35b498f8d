"""Only bytes that the site we serve has signed are looked at."""

import hashlib
import hmac
import json
from typing import Any

import pytest
from pydantic import SecretStr

from patchwright.core.types.errors import (
    PayloadError,
    SettingsError,
    SignatureError,
    TenantError,
)
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.jira.webhooks.reader import JiraReceiver
from tests.unit.jira.samples import (
    DC,
    DC_REST,
    LISTENING,
    account,
    comment,
    created,
    issue,
    read_json,
    said,
    trigger_of,
    updated,
    user,
)

NEW, OLD = SecretStr("new secret"), SecretStr("old secret")
BODY = json.dumps(comment("@patchwright fix it"), indent=1).encode()
ELSEWHERE = "https://other.atlassian.net/rest/api/2"


def sign(body: bytes, secret: SecretStr = NEW) -> str:
    key = secret.get_secret_value().encode()
    return f"sha256={hmac.new(key, body, hashlib.sha256).hexdigest()}"


@pytest.fixture
def receiver() -> JiraReceiver:
    return JiraReceiver([NEW, OLD], LISTENING)


@pytest.mark.parametrize("secret", [NEW, OLD])
@pytest.mark.parametrize("header", ["X-Hub-Signature", "x-hub-signature"])
def test_s18_delivery_signed_with_either_secret_is_read(
    receiver: JiraReceiver, secret: SecretStr, header: str
) -> None:
    reading = receiver.read({header: sign(BODY, secret)}, BODY)
    assert isinstance(reading, Trigger)


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "sha256=",
        sign(BODY, SecretStr("a guess")),
        sign(BODY).removeprefix("sha256="),
        sign(BODY).replace("sha256", "sha1"),
        f"sha512={hmac.new(b'new secret', BODY, hashlib.sha512).hexdigest()}",
        sign(json.dumps(json.loads(BODY)).encode()),
    ],
)
def test_s18_other_signatures_are_refused(
    receiver: JiraReceiver, signature: str
) -> None:
    with pytest.raises(SignatureError):
        receiver.read({"X-Hub-Signature": signature}, BODY)


def test_s18_the_signature_is_checked_before_the_body_is_parsed(
    receiver: JiraReceiver,
) -> None:
    with pytest.raises(SignatureError):
        receiver.read({"X-Hub-Signature": sign(b"another")}, b"{not json")
    with pytest.raises(PayloadError):
        receiver.read({"X-Hub-Signature": sign(b"{not json")}, b"{not json")


@pytest.mark.parametrize("secrets", [[], [SecretStr("")], [NEW, SecretStr("")]])
def test_without_a_secret_there_is_no_receiver(secrets: list[SecretStr]) -> None:
    with pytest.raises(SettingsError, match=r"jira\.webhook_secret"):
        JiraReceiver(secrets, LISTENING)


STRANGER = account("557058:x", "X", self=f"{ELSEWHERE}/user?accountId=557058:x")


@pytest.mark.parametrize(
    "payload",
    [
        comment("@patchwright go", issue=issue(ELSEWHERE)),
        comment("@patchwright go", comment=said("@patchwright go", rest=ELSEWHERE)),
        comment("@patchwright go", comment=said("@patchwright go", author=STRANGER)),
        created(STRANGER, description="@patchwright go"),
        created(creator=STRANGER, description="@patchwright go"),
        updated(ticket=issue(assignee=STRANGER)),
        comment("x", event="comment_deleted", issue=issue(ELSEWHERE)),
        comment("x", issue=issue(ELSEWHERE, key="OPS-1")),
    ],
)
def test_delivery_that_speaks_for_another_site_is_refused(
    receiver: JiraReceiver, payload: Any
) -> None:
    body = json.dumps(payload).encode()
    with pytest.raises(TenantError):
        receiver.read({"X-Hub-Signature": sign(body)}, body)


@pytest.mark.parametrize(
    "rest",
    [
        "https://acme.atlassian.net.evil.example/rest/api/2",
        "https://acme.atlassian.net@evil.example/rest/api/2",
        "https://evil.example/acme.atlassian.net/rest/api/2",
        "https://api.atlassian.com/ex/jira/11223344/rest/api/2",
        "ftp://acme.atlassian.net/rest/api/2",
        "https://[/rest/api/2",
        "",
    ],
)
def test_address_that_only_looks_like_the_site_is_refused(rest: str) -> None:
    with pytest.raises(TenantError):
        read_json(comment("@patchwright go", issue=issue(rest)))


def test_s76_a_site_below_a_path_is_identified_by_it() -> None:
    ann = user("ann")
    body = "@patchwright go"
    whole = comment(body, issue=issue(DC_REST, creator=ann))
    whole["comment"] = said(body, ann, DC_REST)
    assert trigger_of(whole, DC).thread.service == "jira"
    whole["issue"]["self"] = "http://JIRA.corp.example/Jira/rest/api/2/issue/10007"
    assert trigger_of(whole, DC).installation == "jira.corp.example/jira"
    whole["issue"]["self"] = "https://jira.corp.example/other/rest/api/2/issue/10007"
    with pytest.raises(TenantError):
        read_json(whole, DC)


def test_ticket_without_an_address_is_malformed() -> None:
    payload = comment("@patchwright go")
    del payload["issue"]["self"]
    with pytest.raises(PayloadError):
        read_json(payload)
