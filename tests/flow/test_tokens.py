"""A run that outlives the tokens it was begun with."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from tests.fakes.llm.turns import TurnLike
from tests.flow.script import Request, in_turn
from tests.flow.story import fix_turns, telling

WISH = "@patchwright please fix the sum"
BY_GIT = {"PATCHWRIGHT_GITHUB__COMMIT_SIGNING": "none"}


def test_s22_a_run_of_two_minutes_works_with_tokens_of_one_minute(
    tmp_path: Path,
) -> None:
    def after_a_minute(turn: TurnLike) -> Callable[[Request], TurnLike]:
        def wait(_request: Request) -> TurnLike:
            story.clock.advance(61)
            return turn

        return wait

    first, second, *rest = fix_turns()
    script = in_turn(
        first, after_a_minute(second), *rest[:-1], after_a_minute(rest[-1])
    )
    with telling(tmp_path, script, settings=BY_GIT) as story:
        world = story.github.world
        world.clock, world.token_life = story.clock, timedelta(minutes=1)
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)
        pushes = [
            one for one in story.github.requests if one.path.endswith("receive-pack")
        ]
        assert {one.status for one in pushes} <= {200, 401}
        assert pushes[-1].status == 200
