"""Who is not known in Slack holds nobody up, and bothers nobody."""

import json
from pathlib import Path

from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.llm.turns import TurnLike
from tests.flow.office import in_office
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, fix_turns

MAPPED = {"PATCHWRIGHT_JIRA__PROJECTS": "{}"}


def test_a_stranger_who_asked_first_does_not_hold_up_who_is_known(
    tmp_path: Path,
) -> None:
    def fix(request: Request) -> TurnLike:
        told = asked(request)
        assert "round it down" in told
        assert 'what="follow-up"' not in told
        return first

    first, *rest = fix_turns()
    turns = in_turn(fix, *rest)
    with in_office(tmp_path, turns, settings=MAPPED) as office:
        slack, story = office.slack, office.story
        thread = slack.ask(f"round it down in {REPO}", user=slack.max)
        story.work()
        assert "Link your GitHub account" in slack.whisper(slack.max).shown
        slack.ask(f"fix the total in {REPO}, mind the pieces", thread=thread)
        story.work()
        [done] = slack.runs(thread)
        assert "|pull request #1>" in done.shown
        [job] = story.jobs()
        assert (job.trigger.actor.external_id, job.trigger.asker.login) == (
            slack.jo,
            "alice",
        )
        # The stranger's word was that of one who says something to a run of others.
        assert len(slack.whispers(slack.max)) == 2


def test_what_others_say_brings_nobody_another_invitation(tmp_path: Path) -> None:
    with in_office(tmp_path, [], mapped=False, settings=MAPPED) as office:
        slack, story = office.slack, office.story
        thread = slack.ask("fix the total")
        story.work()
        for _ in range(3):
            slack.fake.say(slack.max, slack.channel, "me too", thread)
            slack.ask("me too", thread=thread, user=slack.max)
            story.work()
        assert len(slack.whispers()) == 1
        assert slack.whispers(slack.max) == []
        # Who asks once more themselves has lost it, perhaps.
        slack.ask("fix the total!", thread=thread)
        story.work()
        assert len(slack.whispers()) == 2


def test_who_asks_for_links_again_and_again_is_told_once_to_wait(
    tmp_path: Path,
) -> None:
    with in_office(tmp_path, [], mapped=False, settings=MAPPED) as office:
        slack, story = office.slack, office.story
        thread = slack.ask("fix the total")
        story.work()
        for number in range(8):
            slack.ask(f"fix the total, {number}", thread=thread)
            story.work()
        *links, last = slack.whispers()
        assert len(links) == 5
        assert last.shown == (
            "You got several links in the last hour. Please open the newest one in "
            "Slack, or ask again in an hour."
        )


def test_who_is_known_but_may_not_write_ends_nobody_elses_request(
    tmp_path: Path,
) -> None:
    eve = json.dumps([{"slack": "U3", "github": "eve"}])
    settings = {**MAPPED, "PATCHWRIGHT_ACCOUNTS__MAP": eve}
    turns = in_turn(*fix_turns())
    with in_office(
        tmp_path, turns, mapped=False, private=False, settings=settings
    ) as office:
        slack, story = office.slack, office.story
        assert slack.max == "U3"
        thread = slack.ask(f"fix the total in {REPO}")
        story.work()
        assert "The link is only for you." in slack.whisper().shown
        slack.ask(f"fix it in {REPO}", thread=thread, user=slack.max)
        story.work()
        assert "write access is needed" in slack.whisper(slack.max).shown
        # The first request has a job of its own, and goes on as soon as it can.
        office.link(slack.whisper())
        story.work()
        slack.fake.press(slack.jo, slack.whisper(), "Share")
        story.work()
        [done] = slack.runs(thread)
        assert "|pull request #1>" in done.shown
        kinds = [job.outcome.kind for job in story.jobs() if job.outcome]
        assert kinds == [OutcomeKind.REFUSED, OutcomeKind.RESOLVED]
