"""Every refusal of Slack's is an error of ours that says what to do about it."""

from datetime import timedelta

import pytest
from pydantic import SecretStr

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import (
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
    SettingsError,
)
from patchwright.integrations.slack.adapter import Slack, connect
from patchwright.integrations.slack.responses import EmptyResponse
from patchwright.integrations.slack.tokens import StaticBotToken
from tests.adapters.slack.conftest import Office
from tests.fakes.clock import FakeClock
from tests.fakes.slack.fake import FakeSlack


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("invalid_auth", AuthenticationError),
        ("token_revoked", AuthenticationError),
        ("account_inactive", AuthenticationError),
        ("not_in_channel", PermissionDeniedError),
        ("restricted_action", PermissionDeniedError),
        ("channel_not_found", NotFoundError),
        ("message_not_found", NotFoundError),
        ("thread_not_found", NotFoundError),
        ("fatal_error", ServiceUnavailableError),
        ("invalid_blocks", InvalidRequestError),
        ("a_code_of_tomorrow", InvalidRequestError),
    ],
)
def test_a_code_is_an_error_of_ours(
    fake: FakeSlack, office: Office, slack: Slack, code: str, kind: type[ServiceError]
) -> None:
    fake.faults.fail_next("auth.test", code)
    with pytest.raises(kind, match=code):
        slack.fetch_identity(office.team)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, ServiceUnavailableError),
        (503, ServiceUnavailableError),
        (404, ServiceError),
    ],
)
def test_what_is_no_answer_of_the_api_is_told_apart(
    fake: FakeSlack,
    office: Office,
    slack: Slack,
    status: int,
    kind: type[ServiceError],
) -> None:
    fake.faults.fail_next("auth.test", status=status)
    with pytest.raises(kind, match=str(status)):
        slack.fetch_identity(office.team)


@pytest.mark.parametrize("body", [b"[]", b"null", b'{"ok":true,"user_id":"U1"}'])
def test_any_json_is_an_answer_or_an_error_of_ours(
    fake: FakeSlack, office: Office, slack: Slack, body: bytes
) -> None:
    fake.faults.answer_next("chat.getPermalink", body)
    fake.faults.answer_next("conversations.replies", body)
    with pytest.raises(ServiceError):
        slack.channel.fetch_thread(office.thread("1.1"))


def test_a_missing_scope_is_named(fake: FakeSlack) -> None:
    team = fake.scene.add_workspace("Acme")
    token = fake.scene.install(team, scopes=frozenset({"channels:history"}))
    slack = connect(
        fake.api_url, tokens=StaticBotToken(SecretStr(token)), clock=SystemClock()
    )
    with pytest.raises(PermissionDeniedError, match="users:read"):
        slack.api.ask(team, EmptyResponse, lambda client: client.users_info(user="U1"))


def test_a_limit_is_waited_for(fake: FakeSlack, office: Office) -> None:
    clock = FakeClock()
    tokens = StaticBotToken(SecretStr(office.token))
    slack = connect(fake.api_url, tokens=tokens, clock=clock)
    before = clock.now()
    fake.faults.limit_next("auth.test", 30)
    assert slack.fetch_identity(office.team).is_bot
    assert clock.now() - before >= timedelta(seconds=30)


def test_a_long_limit_is_told(fake: FakeSlack, office: Office) -> None:
    clock = FakeClock()
    tokens = StaticBotToken(SecretStr(office.token))
    slack = connect(fake.api_url, tokens=tokens, clock=clock)
    fake.faults.limit_next("auth.test", 3_600)
    with pytest.raises(RateLimitedError) as caught:
        slack.fetch_identity(office.team)
    assert caught.value.until - clock.now() == timedelta(hours=1)


def test_nobody_at_home_is_told() -> None:
    tokens = StaticBotToken(SecretStr("xoxb-EXAMPLE"))
    slack = connect("http://127.0.0.1:1/api", tokens=tokens, clock=SystemClock())
    with pytest.raises(ServiceUnavailableError, match="URLError"):
        slack.fetch_identity("T1")


def test_an_empty_token_is_a_mistake_in_the_settings() -> None:
    with pytest.raises(SettingsError, match=r"slack\.bot_token"):
        StaticBotToken(SecretStr(""))
