"""Deliveries that did not arrive are found, and sent again when we ask."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from pydantic import SecretStr

from patchwright.core.system.clock import SystemClock
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.deliveries import GitHubHook
from tests.adapters.github.conftest import SHOP, AppKey, connect
from tests.fakes.github.acts.hooks import bring, listen_at
from tests.fakes.github.fake import FakeGitHub
from tests.provision.servers import free_port

HOUR_AGO = SystemClock().now() - timedelta(hours=1)


@pytest.fixture
def nowhere(fake: FakeGitHub) -> str:
    """Let every hook call an address where nobody listens."""
    url = f"http://127.0.0.1:{free_port()}/hook"
    listen_at(fake.world, url)
    return url


@pytest.fixture
def hook(as_app: GitHub) -> GitHubHook:
    [found] = as_app.find_hooks("", [])
    return found


def lose(fake: FakeGitHub, times: int = 1) -> list[str]:
    """Let deliveries be lost; return their ids, newest first."""
    for _ in range(times):
        fake.open_issue("acme/shop", "ann", "Wrong sum", "")
        bring(fake.world, fake.deliveries[-1])
    return [one.guid for one in reversed(fake.deliveries)][:times]


@pytest.mark.usefixtures("app", "nowhere")
def test_what_the_app_did_not_get_is_listed(fake: FakeGitHub, hook: GitHubHook) -> None:
    [guid] = lose(fake)
    [attempt] = hook.list_failed(HOUR_AGO)
    assert (attempt.guid, attempt.status_code) == (guid, 502)


@pytest.mark.usefixtures("app", "nowhere")
def test_every_page_is_read(fake: FakeGitHub, hook: GitHubHook) -> None:
    guids = lose(fake, 230)
    assert [one.guid for one in hook.list_failed(HOUR_AGO)] == guids


@pytest.mark.usefixtures("app", "nowhere")
def test_what_is_older_is_left_out(fake: FakeGitHub, hook: GitHubHook) -> None:
    lose(fake)
    assert hook.list_failed(SystemClock().now() + timedelta(seconds=2)) == ()


@pytest.mark.usefixtures("app", "nowhere")
def test_another_try_has_the_same_delivery_and_an_id_of_its_own(
    fake: FakeGitHub, hook: GitHubHook
) -> None:
    lose(fake)
    [first] = hook.list_failed(HOUR_AGO)
    hook.redeliver(first.id)
    second, still_first = hook.list_failed(HOUR_AGO)
    assert still_first == first
    assert second.guid == first.guid
    assert second.id != first.id


def test_a_token_of_an_admin_finds_the_hook_that_calls_us(
    fake: FakeGitHub, admin: GitHub, nowhere: str
) -> None:
    fake.add_hook("acme/shop", "secret")
    [hook] = admin.find_hooks(nowhere, [SHOP])
    [guid] = lose(fake)
    [attempt] = hook.list_failed(HOUR_AGO)
    hook.redeliver(attempt.id)
    assert [one.guid for one in hook.list_failed(HOUR_AGO)] == [guid, guid]


@pytest.mark.usefixtures("nowhere")
def test_a_hook_that_calls_somebody_else_is_not_ours(
    fake: FakeGitHub, admin: GitHub
) -> None:
    fake.add_hook("acme/shop", "secret")
    assert list(admin.find_hooks("http://127.0.0.1/other", [SHOP])) == []


def test_a_token_that_may_not_see_hooks_is_no_error(
    fake: FakeGitHub, as_user: GitHub, nowhere: str
) -> None:
    fake.add_hook("acme/shop", "secret")
    assert list(as_user.find_hooks(nowhere, [SHOP])) == []


def test_the_repositories_of_an_app_need_no_look(as_app: GitHub, app: AppKey) -> None:
    assert isinstance(app.pem, SecretStr)
    assert [hook.path for hook in as_app.find_hooks("", [SHOP])] == ["/app/hook"]


@pytest.fixture
def admin(fake: FakeGitHub) -> Iterator[GitHub]:
    token = fake.add_user("boss")
    fake.grant("acme/shop", "boss", "admin")
    github = connect(fake, token)
    yield github
    github.close()
