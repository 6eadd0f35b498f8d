"""What GitHub did not give us is found when the service starts."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from pydantic import SecretStr

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import AuthenticationError
from patchwright.integrations.github.adapter import GitHub, connect_app
from patchwright.integrations.github.auth import MemoryTokenCache
from tests.adapters.github.conftest import SHOP, addresses_of, connect
from tests.app_manifest import add_our_app, app_manifest
from tests.fakes.github.acts.registrations import subscribe
from tests.fakes.github.fake import FakeGitHub


@pytest.fixture
def as_manifested_app(fake: FakeGitHub) -> Iterator[GitHub]:
    pem = add_our_app(fake, 9, "secret")
    app = connect_app(
        addresses_of(fake),
        "9",
        SecretStr(pem),
        cache=MemoryTokenCache(),
        clock=SystemClock(),
        pause_s=0,
    )
    with closing(app):
        yield app


def test_the_app_of_the_manifest_has_all_it_needs(as_manifested_app: GitHub) -> None:
    assert as_manifested_app.fetch_missing() == ()


def test_what_an_older_app_was_not_given_is_named(
    fake: FakeGitHub, as_manifested_app: GitHub
) -> None:
    subscribe(fake.world, 9, {*app_manifest()["default_events"]} - {"push"})
    assert as_manifested_app.fetch_missing() == (
        "event push: the bot does not react to it",
    )


def test_the_scopes_of_a_classic_token_are_read(fake: FakeGitHub) -> None:
    token = fake.add_user("robot")
    with closing(connect(fake, token)) as github:
        fake.world.registry.scopes[token] = "gist, repo"
        assert github.fetch_missing() == ()
        fake.world.registry.scopes[token] = "gist, public_repo"
        assert github.fetch_missing() == (
            "scope repo: needed for private repositories",
        )


def test_tokens_without_scopes_are_taken_as_they_are(fake: FakeGitHub) -> None:
    personal = fake.add_user("robot")
    of_actions = fake.mint_actions_token(SHOP.full_name, {"contents": "read"})
    for token in (personal, of_actions):
        with closing(connect(fake, token)) as github:
            assert github.fetch_missing() == ()


def test_a_token_that_is_not_accepted_is_an_error(fake: FakeGitHub) -> None:
    with (
        closing(connect(fake, "ghp_made_up")) as github,
        pytest.raises(AuthenticationError),
    ):
        github.fetch_missing()
