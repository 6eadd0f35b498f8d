"""What a forge tells late, or once more, is heeded only where it is still so."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from patchwright.core.types.people import Actor, PersonalToken
from patchwright.integrations.github.settings import GitHubSettings
from patchwright.resolver.job import JobState
from patchwright.workers.plugins.people import make_identity_tokens
from tests.fakes.github.acts.accounts import mint_personal_token
from tests.fakes.github.acts.installations import suspend_app, take_repository
from tests.fakes.github.acts.moves import rename
from tests.fakes.github.render.users import user_json
from tests.fakes.github.state import Delivery, World
from tests.fakes.github.webhooks.outbox import tell_app
from tests.flow.story import REPO, Story, fix_turns, telling

WISH = "@patchwright please fix the sum"
Lose = Callable[[World, int], None]


def _suspend(world: World, installation: int) -> None:
    suspend_app(world, installation, actor="alice")


def _take(world: World, installation: int) -> None:
    take_repository(world, installation, REPO, actor="alice")


def _again(delivery: Delivery) -> Delivery:
    """Return it as it comes when somebody has it sent once more."""
    guid = f"again-{delivery.guid}"
    headers = {**delivery.headers, "X-GitHub-Delivery": guid}
    return replace(delivery, guid=guid, headers=headers)


def _lost_and_given_back(story: Story, lose: Lose) -> Delivery:
    world = story.github.world
    [(number, before)] = world.installations.items()
    lose(world, number)
    with world.lock:
        world.installations[number] = before
    return story.github.deliveries[-1]


@pytest.mark.parametrize("lose", [_suspend, _take])
def test_an_old_loss_of_access_ends_no_run_of_today(tmp_path: Path, lose: Lose) -> None:
    with telling(tmp_path, fix_turns()) as story:
        old = _lost_and_given_back(story, lose)
        issue = story.ask(WISH)
        receipt = story.deliver(_again(old))
        assert (receipt.status, receipt.body) == (200, b'{"status":"ignored"}')
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)


@pytest.mark.parametrize("lose", [_suspend, _take])
def test_a_loss_of_access_that_is_so_ends_the_run(tmp_path: Path, lose: Lose) -> None:
    with telling(tmp_path, []) as story:
        story.ask(WISH)
        [number] = story.github.world.installations
        lose(story.github.world, number)
        story.tell()
        [job] = story.jobs()
        assert job.state is JobState.CANCELLED


def test_what_github_cannot_be_asked_about_is_to_be_sent_again(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        old = _lost_and_given_back(story, _suspend)
        issue = story.ask(WISH)
        story.github.fail_next("GET", "/app/installations/", 400)
        assert story.deliver(_again(old)).status == 503
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)


def test_an_old_rename_moves_nothing_that_has_its_name_again(tmp_path: Path) -> None:
    world_of = "acme/store"
    with telling(tmp_path, fix_turns()) as story:
        rename(story.github.world, REPO, "store", actor="alice")
        old = story.github.deliveries[-1]
        rename(story.github.world, world_of, "shop", actor="alice")
        issue = story.ask(WISH)
        receipt = story.deliver(_again(old))
        assert (receipt.status, receipt.body) == (200, b'{"status":"ignored"}')
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)


def test_an_old_word_that_consent_is_taken_back_forgets_no_token_that_counts(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, []) as story:
        token = mint_personal_token(story.github.world, "alice", prefix="ghu_")
        keeps = _keep_token(story, token)
        _tell_revoked(story)
        assert keeps()
        del story.github.world.tokens[token]
        _tell_revoked(story)
        assert not keeps()


def _keep_token(story: Story, token: str) -> Callable[[], bool]:
    """Let alice be linked; return what tells whether her token is kept."""
    base, host = story.base, GitHubSettings.of(story.base.settings).api_url
    alice = str(story.github.world.user("alice").id)
    person = Actor(service="github", login="alice", external_id=alice)
    account = base.stores.accounts.account_of(person, host)
    tokens = make_identity_tokens(
        base.plugin, base.settings, base.database, base.secrets, base.clock
    )
    with base.database.writing() as connection:
        grant = PersonalToken(access_token=SecretStr(token), expires_at=None)
        tokens.keep(connection, account, grant)
    return lambda: tokens.fetch(account) is not None


def _tell_revoked(story: Story) -> None:
    world = story.github.world
    with world.lock:
        [installation] = world.installations.values()
        sender = user_json(world, world.user("alice"))
        body = {"action": "revoked", "sender": sender}
        tell_app(world, installation, "github_app_authorization", body)
    story.tell()
