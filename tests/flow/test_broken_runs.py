"""Whatever breaks beside the work itself, a run comes to an end and keeps its work."""

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import text

from patchwright.resolver.job import Job, JobState
from patchwright.workers.store.effects import EffectState
from tests.fakes.github.acts.rules import set_rules
from tests.fakes.github.rule_state import Rules
from tests.fakes.llm.turns import Script, TurnLike
from tests.flow.script import Request, in_turn
from tests.flow.story import REPO, Story, fix_turns, telling

WISH = "@patchwright fix the sum"
LEASE_S = 30.0
# More workers than may be lost over one job.
MANY = 12


def _change(story: Story, *statements: str) -> None:
    """Do to the database what no process of this version would do."""
    with story.base.database.writing() as connection:
        for one in statements:
            connection.execute(text(one))


def _before_the_end(happens: Callable[[], object]) -> Script:
    def last(_request: Request) -> TurnLike:
        happens()
        return finish

    *steps, finish = fix_turns()
    return in_turn(*steps, last)


def _work_on(story: Story) -> Job:
    """Let one worker after the other take the job, as long as it can be taken."""
    for _ in range(MANY):
        story.work_later(25 * LEASE_S)
    [job] = story.jobs()
    return job


def _refuse(table: str, condition: str = "1") -> str:
    """Have the database refuse rows, as one does that is damaged or full of them."""
    return (
        f"CREATE TRIGGER refuse_{table} BEFORE INSERT ON {table} WHEN {condition} "
        "BEGIN SELECT RAISE(ABORT, 'no more rows'); END"
    )


def test_the_work_is_delivered_where_it_cannot_be_said_who_else_is_told(
    tmp_path: Path,
) -> None:
    # Once the run has ended, and before anybody is told of it.
    damage = (
        "CREATE TRIGGER damage AFTER INSERT ON events "
        "WHEN NEW.kind = 'outcome_reached' BEGIN "
        "INSERT INTO threads (key, kind, conversation_id, linked_at) "
        "SELECT 'of another version', 'pigeon', id, created_at FROM conversations; END"
    )
    with telling(tmp_path, fix_turns()) as story:
        _change(story, damage)
        number = story.ask(WISH)
        story.work()
        said = story.reply(number)
        assert "**Done, proven** · #2" in said
        assert "tickets of this conversation" in said
        assert len(story.github.pull_requests(REPO)) == 1
        [job] = story.jobs()
        assert job.state is JobState.DONE
        assert len(story.pings(number)) == 1


def test_work_that_cannot_be_stored_with_the_outcome_is_kept_and_named(
    tmp_path: Path,
) -> None:
    def damage() -> None:
        _change(story, _refuse("artifacts", "NEW.name = 'commits'"))

    with telling(tmp_path, _before_the_end(damage)) as story:
        number = story.ask(WISH)
        story.work()
        said = story.reply(number)
        [job] = story.jobs()
        assert "**Failed** (`internal`)" in said
        assert f"patchwright runs bundle {job.id[:8]}" in said
        assert job.state is JobState.FAILED
        story.pings(number)


def test_a_run_whose_end_cannot_be_stored_ends_after_a_few_tries(
    tmp_path: Path,
) -> None:
    def damage() -> None:
        _change(story, _refuse("effects"))

    with telling(tmp_path, _before_the_end(damage)) as story:
        number = story.ask(WISH)
        story.work()
        job = _work_on(story)
        assert job.state is JobState.FAILED
        assert job.attempts <= 5
        assert job.outcome is not None
        assert (job.outcome.kind, job.outcome.reason) == ("failed", "internal")
        said = story.reply(number)
        assert "**Failed** (`internal`)" in said
        assert f"patchwright runs bundle {job.id[:8]}" in said
        assert len(story.provider.requests) == len(fix_turns())


def test_a_request_that_cannot_be_read_is_not_tried_for_ever(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        story.ask(WISH)
        _change(story, """UPDATE jobs SET "trigger" = '{"of": "another version"}'""")
        for _ in range(MANY):
            story.work_later(25 * LEASE_S)
        with story.base.database.reading() as connection:
            row = connection.execute(text("SELECT state, attempts FROM jobs")).one()
        assert row.state == JobState.FAILED
        assert row.attempts <= 5


def test_an_effect_that_cannot_be_read_keeps_no_other_from_people(
    tmp_path: Path,
) -> None:
    def archive() -> None:
        set_rules(story.github.world, REPO, Rules(archived=True))

    with telling(tmp_path, _before_the_end(archive)) as story:
        number = story.ask(WISH)
        story.work()
        for kind in ("adorn_pull_request", "ping"):
            of_another = f"""REPLACE(effect, '"{kind}"', '"carrier_pigeon"')"""
            _change(story, f"UPDATE effects SET effect = {of_another}")
        set_rules(story.github.world, REPO, Rules())
        job = _work_on(story)
        assert job.state is JobState.FAILED
        assert "state=failed" in story.reply(number)
        assert len(story.github.pull_requests(REPO)) == 0
        states = [one.state for one in story.base.stores.effects.of_job(job.id)]
        assert states.count(EffectState.ABANDONED) == 1
        story.pings(number)
