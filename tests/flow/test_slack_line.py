"""The whole line in Slack: from a mention by somebody unknown to a pull request."""

from pathlib import Path

import httpx

from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.office import Office, in_office, link_in, state_in
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.text import steady

NO_DEFAULTS = {"PATCHWRIGHT_JIRA__PROJECTS": "{}"}
PLAN = call("finish", summary="A plan.", answer="1. Test it.\n2. Fix it.")
EMPTY_CART = call(
    "write", path="test_empty.py", content="import unittest\n\n# An empty cart.\n"
)
INVITATION = """\
<GITHUB/link/TOKEN|Link your GitHub account> to your account in Slack, so that I can \
check your access.

The link is only for you. It works once and expires in 15 minutes. Then I continue \
with your request.
Link with GitHub"""
WHICH = """\
*Which repository?* The request names none, and there is no default for it here.

Answer here with its name, such as `owner/name`, or with a link to it. The request is \
kept.
acme/shop
Find a repository"""
PLANNED = """\
*Plan* · 1 step · 120 tokens, price unknown · <GITHUB/runs/RUN|run>

The agent wrote:

> 1. Test it.
> 2. Fix it.

Reply `approve` to start, `reject` to cancel, or say what to change.
run RUN · requested by Jo Doe · in acme/shop · thread read at TIME · model \
openai/scripted
Approve plan
Change
Stop"""


def test_an_unknown_person_gets_from_a_mention_to_a_pull_request_and_back(
    tmp_path: Path,
) -> None:
    def follow(request: Request) -> TurnLike:
        assert "mind the empty cart as well" in asked(request)
        return EMPTY_CART

    def stop(_request: Request) -> TurnLike:
        running = slack.runs(thread)[-1]
        assert state_in(running) == "running"
        slack.fake.press(slack.jo, running, "Stop")
        return call("shell", command="touch must_not_run")

    *_, finish = fix_turns()
    turns = in_turn(PLAN, *fix_turns(), follow, finish, *fix_turns()[:1], stop)
    with in_office(tmp_path, turns, mapped=False, settings=NO_DEFAULTS) as office:
        slack, story = office.slack, office.story
        thread = slack.ask("plan a fix of the total: it ignores the pieces")
        story.work()
        assert slack.answers(thread) == []
        assert steady(slack.whisper().shown) == INVITATION
        become_alice(office)
        story.work()
        assert steady(slack.whisper().shown) == WHICH
        choose(office)
        story.work()
        [planned] = slack.runs(thread)
        assert steady(planned.shown).replace(" · Ns", "") == PLANNED
        slack.fake.press(slack.jo, planned, "Approve plan")
        story.work()
        [done] = slack.runs(thread)
        assert done.ts == planned.ts
        assert "*Done, proven* · <http" in done.shown
        assert "|pull request #1>" in done.shown
        assert slack.fake.buttons(done) == ["Open pull request"]
        goes_on(office, thread)
        slack.ask("rename everything", thread=thread)
        story.work()
        assert slack.runs(thread)[2].shown.startswith("*Stopped* · ")
        ends(office)


def become_alice(office: Office) -> None:
    """Follow the link; a second time it is good for nothing."""
    told = office.slack.whisper()
    page = office.link(told)
    assert "<h1>Linked</h1>" in page.text
    assert ">Jo Doe<" in page.text
    assert ">alice<" in page.text
    with httpx.Client() as other:
        assert other.get(link_in(told)).status_code == httpx.codes.GONE


def choose(office: Office) -> None:
    slack, told = office.slack, office.slack.whisper()
    assert slack.fake.search(slack.jo, told, "sho") == [REPO]
    assert slack.fake.search(slack.jo, told, "nothing like it") == []
    slack.fake.pick(slack.jo, told, REPO)


def goes_on(office: Office, thread: str) -> None:
    """Mention the bot again: the thread goes on with its pull request."""
    office.slack.ask("mind the empty cart as well", thread=thread)
    office.story.work()
    assert "|pull request #1>" in office.slack.runs(thread)[1].shown


def ends(office: Office) -> None:
    """There is one conversation, with one pull request, and nothing else was said."""
    story, slack = office.story, office.slack
    kinds = [job.outcome.kind for job in story.jobs() if job.outcome]
    assert kinds == [OutcomeKind.RESOLVED, OutcomeKind.RESOLVED, OutcomeKind.STOPPED]
    assert len({job.conversation_id for job in story.jobs()}) == 1
    [pull] = story.github.pull_requests(REPO)
    assert pull.author == story.bot
    assert len(slack.whispers()) == 2
