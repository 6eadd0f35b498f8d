"""A thread in Slack is one conversation: follow-ups join it, stop it, go on with it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from patchwright.resolver.job import JobState
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.office import Workspace, in_office, state_in
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.text import steady
from tests.provision.waiting import wait_until

QUESTION = "Should `total` count in cents, or in euros?"
MORE = call("write", path="notes.py", content='"""About carts."""\n')
MIRRORED = (
    "*Done, proven* · <GITHUB/acme/shop/pull/1|pull request #1> · 3 steps · "
    "360 tokens, price unknown · <GITHUB/runs/RUN|run>\nrun RUN\nOpen pull request"
)


def test_s72_a_mention_in_a_thread_at_work_joins_the_run(tmp_path: Path) -> None:
    def add(_request: Request) -> TurnLike:
        words = f"and mind the empty cart of <@{slack.max}>"
        said.append(slack.ask(words, thread=thread))
        return first

    def see(request: Request) -> TurnLike:
        words = "and mind the empty cart of @Max"
        assert f'what="follow-up" author="alice">\n{words}\n' in asked(request)
        return second

    said: list[str] = []
    first, second, *rest = fix_turns()
    with in_office(tmp_path, in_turn(add, see, *rest)) as office:
        slack = office.slack
        thread = slack.ask("fix the total in acme/shop")
        office.story.work()
        [done] = slack.runs(thread)
        assert "|pull request #1>" in done.shown
        assert slack.fake.reactions(slack.channel, said[0]) == ["eyes"]
        assert len(office.story.jobs()) == 1


def by_mention(slack: Workspace, thread: str) -> None:
    slack.ask("stop", thread=thread)


def by_word(slack: Workspace, thread: str) -> None:
    slack.fake.say(slack.jo, slack.channel, "stop!", thread)


def by_reaction(slack: Workspace, thread: str) -> None:
    slack.fake.react(slack.jo, slack.channel, thread, "octagonal_sign")


def by_button(slack: Workspace, thread: str) -> None:
    [running] = slack.runs(thread)
    slack.fake.press(slack.jo, running, "Stop")


@pytest.mark.parametrize("stop", [by_mention, by_word, by_reaction, by_button])
def test_a_run_at_work_is_stopped(
    stop: Callable[[Workspace, str], None], tmp_path: Path
) -> None:
    def act(_request: Request) -> TurnLike:
        stop(slack, thread)
        return call("shell", command="touch must_not_run")

    with in_office(tmp_path, in_turn(act)) as office:
        slack = office.slack
        thread = slack.ask("fix the total in acme/shop")
        office.story.work()
        [stopped] = slack.runs(thread)
        assert stopped.shown.startswith("*Stopped* · 1 step · ")
        assert state_in(stopped) == "stopped"
        assert slack.fake.buttons(stopped) == ["Retry"]
        assert [job.state for job in office.story.jobs()] == [JobState.CANCELLED]
        assert office.story.branches() == []


def test_a_plain_reply_answers_a_question_and_one_by_a_stranger_does_not(
    tmp_path: Path,
) -> None:
    def go_on(request: Request) -> TurnLike:
        assert "in cents, always" in asked(request)
        assert "in shells" not in asked(request)
        return first

    first, *rest = fix_turns()
    turns = in_turn(*[QUESTION] * 3, go_on, *rest)
    with in_office(tmp_path, turns) as office:
        slack, story = office.slack, office.story
        thread = slack.ask("fix the total in acme/shop")
        story.work()
        [waiting] = slack.runs(thread)
        assert waiting.shown.startswith("*Needs you* · 3 steps")
        assert QUESTION in waiting.shown
        assert state_in(waiting) == "waiting"
        [called] = slack.calls(thread)
        assert called.startswith(f"<@{slack.jo}> *Needs you* · ")
        aside = slack.fake.say(slack.max, slack.channel, "in shells", thread)
        story.work()
        assert slack.fake.reactions(slack.channel, aside) == ["confused"]
        assert slack.whispers(slack.max) == []
        assert [job.state for job in story.jobs()] == [JobState.WAITING_USER]
        slack.fake.say(slack.jo, slack.channel, "in cents, always", thread)
        story.work()
        [done] = slack.runs(thread)
        assert done.ts == waiting.ts
        assert "|pull request #1>" in done.shown
        assert len(slack.calls(thread)) == 2


def test_s73_a_request_outside_the_forge_is_answered_there(tmp_path: Path) -> None:
    turns = in_turn(*fix_turns(), MORE, MORE, fix_turns()[-1])
    with in_office(tmp_path, turns) as office:
        slack, story = office.slack, office.story
        thread = slack.ask("fix the total in acme/shop")
        story.work()
        before = slack.answers(thread)
        story.say(1, "@patchwright say what a cart is; my secret word is walrus")
        story.work()
        assert story.reply(1).startswith("**Done, proven** · #1 · 3 steps")
        story.pings(1)
        # The thread hears that something happens, and no word of it.
        added = slack.answers(thread)[len(before) :]
        assert [steady(one.shown).replace(" · Ns", "") for one in added] == [MIRRORED]
        assert slack.answers(thread)[: len(before)] == before
        assert len(story.jobs()) == 2
        [pull] = story.github.pull_requests(REPO)
        assert pull.number == 1


def test_an_unknown_person_who_calls_a_run_at_work_gets_a_link(tmp_path: Path) -> None:
    def call_it(_request: Request) -> TurnLike:
        slack.ask("stop", thread=thread, user=slack.max)
        return first

    first, *rest = fix_turns()
    with in_office(tmp_path, in_turn(call_it, *rest)) as office:
        slack = office.slack
        thread = slack.ask("fix the total in acme/shop")
        office.story.work()
        assert "|pull request #1>" in slack.runs(thread)[0].shown
        wait_until(lambda: slack.whispers(slack.max) != [], "a link", 10)
        assert "Link your GitHub account" in slack.whisper(slack.max).shown
