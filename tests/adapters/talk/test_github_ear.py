"""GitHub away when the service starts: a user's token listens when it is back."""

import json
from collections.abc import Iterator
from contextlib import closing

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.triggers import Ignored, Trigger
from patchwright.core.webhook import NotReadyError
from patchwright.integrations.github.auth import MemoryTokenCache
from patchwright.integrations.github.compose import GitHubReceiverLookup
from patchwright.integrations.github.configured import connect_github
from patchwright.integrations.github.settings import GitHubSettings
from patchwright.integrations.http.signatures import sign_sha256
from tests.app_manifest import add_our_app
from tests.fakes.github.fake import FakeGitHub
from tests.provision.waiting import wait_until
from tests.unit.github.samples import delivery

SECRET = "hook secret"
APP_ID = 4711
BODY = b'{"action": "starred"}'
HEADERS = {
    "x-github-event": "ping",
    "x-hub-signature-256": sign_sha256(BODY, SECRET),
}


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as github:
        yield github


def settings_of(github: FakeGitHub) -> GitHubSettings:
    return GitHubSettings(
        api_url=github.api_url,
        web_url=github.web_url,
        token=SecretStr(github.add_user("patchwright")),
        webhook_secret=(SecretStr(SECRET),),
    )


def test_a_user_s_token_waits_for_github_and_listens_when_it_is_back(
    github: FakeGitHub,
) -> None:
    settings = settings_of(github)
    github.fail_next("GET", "/user$", 404, body={"message": "away"}, times=1)
    cache, clock = MemoryTokenCache(), SystemClock()
    with closing(connect_github(settings, cache, clock)) as connected:
        receiver = GitHubReceiverLookup(settings, connected)
        with pytest.raises(NotReadyError):
            receiver.read(HEADERS, BODY)
        with capture_logs() as logs, receiver:
            wait_until(lambda: _reads(receiver), "the own name", 10)
    [said] = [one for one in logs if one["event"] == "not_reached"]
    assert said["service"] == "github"


def test_an_app_learns_its_own_name_when_github_is_back(github: FakeGitHub) -> None:
    """Until then it listens all the same."""
    key = add_our_app(github, APP_ID, SECRET)
    settings = GitHubSettings(
        api_url=github.api_url,
        web_url=github.web_url,
        app_id=str(APP_ID),
        private_key=SecretStr(key),
        webhook_secret=(SecretStr(SECRET),),
    )
    sender = {"login": "patchwright[bot]", "id": 5, "type": "Bot"}
    label = {"name": settings.label}
    body = json.dumps(delivery("labeled", label=label, sender=sender)).encode()
    signed = {
        "x-github-event": "issues",
        "x-hub-signature-256": sign_sha256(body, SECRET),
    }
    github.fail_next("GET", "/app$", 404, body={"message": "away"}, times=1)
    cache, clock = MemoryTokenCache(), SystemClock()
    with closing(connect_github(settings, cache, clock)) as connected:
        receiver = GitHubReceiverLookup(settings, connected)
        assert isinstance(receiver.read(signed, body), Trigger)
        own = Ignored(reason="own-act")
        with receiver:
            wait_until(lambda: receiver.read(signed, body) == own, "the own name", 10)


def _reads(receiver: GitHubReceiverLookup) -> bool:
    try:
        return isinstance(receiver.read(HEADERS, BODY), Ignored)
    except NotReadyError:
        return False
