"""A change that nobody can see is a failure, wherever somebody or something looks."""

import json
from dataclasses import replace
from pathlib import Path

from sqlalchemy import select

from patchwright.core.events.observations import OutcomeReached
from patchwright.core.replay.story import tell_story
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.job import JobState
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.cli.report import exit_code
from patchwright.workers.cli.run_list import run_as_json
from patchwright.workers.db.tables import ended_runs
from patchwright.workers.runs.run_row import RunSummary, row_of_job
from tests.fakes.github.acts.checks import checks_on
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.llm.turns import Script, TurnLike, call
from tests.flow.script import Request, in_turn
from tests.flow.story import REPO, Story, fix_turns, telling

FAILED = (OutcomeKind.FAILED, "not-delivered")


def _losing_rights(story: list[Story]) -> Script:
    """Let the bot lose its right to write before it delivers what it has made."""

    def last(_request: Request) -> TurnLike:
        world = story[0].github.world
        for number, found in world.installations.items():
            held = {**found.permissions, "contents": "read"}
            world.installations[number] = replace(found, permissions=held)
        return finish

    *steps, finish = fix_turns()
    return in_turn(*steps, last)


def test_what_was_not_delivered_has_failed_for_people_and_for_machines(
    tmp_path: Path,
) -> None:
    told: list[Story] = []
    with telling(tmp_path, _losing_rights(told)) as story:
        told.append(story)
        issue = story.github.open_issue(REPO, "eve", "Wrong sum", "3 pieces cost 450.")
        story.github.label(REPO, issue, "patchwright", "alice")
        story.tell()
        story.work()
        said = story.reply(issue)
        assert said.startswith("**Not delivered** · 4 steps")
        assert "state=failed" in said
        assert story.github.issue(REPO, issue).labels == ("patchwright:failed",)
        [called] = story.pings(issue)
        assert "**Not delivered** · see above why" in called
        outcome, [job] = story.outcome(), story.jobs()
        assert (outcome.kind, outcome.reason, job.state) == (*FAILED, JobState.FAILED)
        assert exit_code(outcome) == 3
        listed = row_of_job(job, RunSummary())
        assert (listed.outcome, listed.reason) == FAILED
        shown = run_as_json(
            listed, tell_story(story.events()), outcome, DeliveryResult()
        )
        assert json.loads(shown)["run"]["outcome"] == "failed"
        logged = [e.payload for e in story.events()]
        ends = [one.outcome for one in logged if isinstance(one, OutcomeReached)]
        assert (ends[-1].kind, ends[-1].reason) == FAILED
        with story.base.database.reading() as connection:
            counted = connection.execute(select(ended_runs.c.outcome)).scalars().all()
        assert counted == ["failed"]


def test_the_check_of_what_was_not_delivered_is_red(tmp_path: Path) -> None:
    told: list[Story] = []
    with telling(tmp_path, _losing_rights(told)) as story:
        told.append(story)
        story.github.commit_files(REPO, "work", {"a.txt": "1\n"}, author="alice")
        proposal = Proposal(title="Sum", head="work", base="main", body="")
        number = story.github.open_pull_request(REPO, "alice", proposal)
        story.say(number, "@patchwright fix the sum")
        story.work()
        assert "**Not delivered**" in story.reply(number)
        story.pings(number)
        [pull] = story.github.pull_requests(REPO)
        [check] = checks_on(story.github.world, REPO, pull.head_sha)
        assert check.conclusion == "failure"
        assert story.outcome().reason == "not-delivered"


def test_what_the_change_lacks_is_named_wherever_it_is_shown(tmp_path: Path) -> None:
    nested = call("shell", command="git init -q lib; echo x > lib/x")
    *steps, finish = fix_turns()
    with telling(tmp_path, [nested, *steps, finish, finish]) as story:
        number = story.ask("@patchwright fix the sum")
        story.work()
        named = "Left out of the change (a Git repository of its own): `lib`."
        assert named in story.reply(number)
        [pull] = story.github.pull_requests(REPO)
        assert named in pull.body
        story.pings(number)
        outcome, [job] = story.outcome(), story.jobs()
        shown = run_as_json(
            row_of_job(job, RunSummary()),
            tell_story(story.events()),
            outcome,
            DeliveryResult(),
        )
        lacks = [{"path": "lib", "reason": "nested-repository"}]
        assert json.loads(shown)["left_out"] == lacks
