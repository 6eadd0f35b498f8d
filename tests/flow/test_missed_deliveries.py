"""A service that was away learns what it missed, and does it once."""

from pathlib import Path

import pytest

from patchwright.workers.compose import make_catch_up
from tests.fakes.github.acts.hooks import bring, listen_at
from tests.fakes.github.state import Delivery
from tests.flow.story import REPO, Story, fix_turns, telling
from tests.provision.servers import free_port

WISH = "@patchwright please fix the sum"
FIVE_MINUTES_S = 300


def door(story: Story) -> str:
    return f"{story.url}/api/integration/github/events"


def miss(story: Story) -> Delivery:
    """Let a request be lost while nobody listens."""
    listen_at(story.github.world, f"http://127.0.0.1:{free_port()}")
    story.github.open_issue(REPO, "alice", "Wrong sum", WISH)
    lost = story.github.deliveries[-1]
    assert bring(story.github.world, lost) == 502
    return lost


def test_a_request_that_was_missed_is_run_exactly_once(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        lost = miss(story)
        listen_at(story.github.world, door(story))
        catch_up = make_catch_up(story.base)
        catch_up()
        catch_up()
        assert story.deliver(lost).status == 200
        story.work()
        assert len(story.jobs()) == 1
        assert "**Done, proven** · #2" in story.reply(1)
        assert len(story.github.world.hook_log.attempts) == 2


def test_a_service_that_is_still_away_is_asked_for_later(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        miss(story)
        catch_up = make_catch_up(story.base)
        catch_up()
        listen_at(story.github.world, door(story))
        catch_up()
        assert story.jobs() == []
        story.clock.advance(FIVE_MINUTES_S)
        catch_up()
        story.work()
        assert len(story.jobs()) == 1
        assert "**Done, proven** · #2" in story.reply(1)


def test_a_github_that_does_not_answer_is_asked_another_time(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        miss(story)
        listen_at(story.github.world, door(story))
        catch_up = make_catch_up(story.base)
        story.github.fail_next("GET", "/app/hook/deliveries", 500, times=4)
        catch_up()
        assert story.jobs() == []
        catch_up()
        story.work()
        assert "**Done, proven** · #2" in story.reply(1)


@pytest.mark.parametrize(
    ("role", "redelivered"), [("admin", [False, True]), ("write", [False])]
)
def test_with_a_token_the_hook_of_a_repository_tells_who_may_see_it(
    tmp_path: Path, role: str, redelivered: list[bool]
) -> None:
    public_url = f"http://127.0.0.1:{free_port()}"
    settings = {"PATCHWRIGHT_SERVER__PUBLIC_URL": public_url}
    with telling(tmp_path, fix_turns(), settings=settings, as_app=False) as story:
        story.github.grant(REPO, "patchwright", role)
        listen_at(story.github.world, f"{public_url}/api/integration/github/events")
        # Repositories are known by what was asked for in them.
        known = story.ask(WISH)
        story.work()
        assert "**Done, proven**" in story.reply(known)
        story.github.open_issue(REPO, "alice", "Wrong sum", WISH)
        assert bring(story.github.world, story.github.deliveries[-1]) == 502
        make_catch_up(story.base)()
        tries = story.github.world.hook_log.attempts
        assert [one.redelivery for one in tries] == redelivered
