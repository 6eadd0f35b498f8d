"""While a run waits, a comment without a mention is the answer."""

from pathlib import Path

import pytest

from patchwright.resolver.job import JobState
from patchwright.workers.runs.administration import ServiceRuns
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.runs.run_row import RunFilter
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, Story, fix_turns, telling
from tests.flow.text import steady

PLAN = call("finish", summary="A plan.", answer="1. Test it.\n2. Fix it.")
ASK = ["Which currency should it be in?"] * 3
FOOTER = (
    "<sub>run RUN · requested by alice · thread read at TIME · model "
    "openai/scripted</sub>"
)
WAITING = "<!-- patchwright:state=waiting run=RUN -->"
FACTS = "120 tokens, price unknown"
APPROVED = """\
<details><summary>Plan, approved by @alice</summary>

The agent wrote:

> 1. Test it.
> 2. Fix it.

</details>"""
HELP = """\
Mention `@patchwright` with your request, for example: `@patchwright fix the failing \
test`. While a run works, what you write after `@patchwright` goes to the run. While \
it waits for you, a plain reply is enough.

- `@patchwright plan` and your request: show a plan first and wait for approval.
- `@patchwright approve` (or `confirm`) / `reject`: answer a request for approval.
- `@patchwright stop`: end the run and keep its work. `pause` / `resume`: pause and \
continue the run.
- `@patchwright budget +2`: raise the budget of the run by $2. `budget 5`: raise it to \
$5.
- `@patchwright status` / `cost` / `why`: show the progress, the cost, and why the run \
started or how it ended.
- `@patchwright retry`: work on this thread again.
- `@patchwright help`: show this help.

<!-- patchwright:state=answered run=RUN -->"""


def hear(story: Story, issue: int, words: str, *, author: str = "alice") -> list[str]:
    """Let somebody comment, and the service work; return how the bot has reacted."""
    comment = story.say(issue, words, author=author)
    story.work()
    return story.reactions(issue, comment)


def waits(story: Story) -> bool:
    return story.jobs()[-1].state is JobState.WAITING_USER


def listed(story: Story) -> list[str]:
    """Return the ids that `patchwright runs list` shows."""
    base, stores = story.base, story.base.stores
    reader = RunReader(stores.jobs, stores.events, stores.outcomes, stores.effects)
    runs = ServiceRuns(base.settings, base.database, reader, stores.events, base.clock)
    return [row.id for row in runs.listing.every_row(RunFilter())]


def test_a_plain_comment_of_who_may_steer_answers_a_question(tmp_path: Path) -> None:
    def go_on(request: Request) -> TurnLike:
        told = asked(request)
        assert 'what="follow-up" author="alice">\nEuro cents please\n' in told
        assert "in roubles" not in told
        assert "what do you say" not in told
        return first

    first, *rest = fix_turns()
    with telling(tmp_path, in_turn(*ASK, go_on, *rest)) as story:
        issue = story.ask("@patchwright please fix the sum")
        story.work()
        assert steady(story.reply(issue)) == (
            f"**Needs you** · 3 steps · Ns · 360 tokens, price unknown\n\n"
            "The agent wrote:\n\n> Which currency should it be in?\n\n"
            "Reply here with your answer. The run waits for it and costs nothing.\n\n"
            f"{FOOTER}\n\n{WAITING}"
        )
        assert hear(story, issue, "in roubles", author="eve") == ["confused"]
        assert hear(story, issue, "@bob what do you say?") == []
        assert waits(story)
        assert hear(story, issue, "Euro cents please") == ["eyes"]
        assert "**Done, proven** · #2" in story.reply(issue)
        assert hear(story, issue, "Thank you all!") == []
        assert len(story.jobs()) == 1
        assert len(story.pings(issue)) == 2


def test_an_answer_that_comes_twice_or_is_edited_answers_once(tmp_path: Path) -> None:
    first, *rest = fix_turns()
    turns = in_turn(*ASK, *ASK, first, *rest)
    with telling(tmp_path, turns) as story:
        issue = story.ask("@patchwright please fix the sum")
        story.work()
        comment = story.say(issue, "Cents")
        story.work()
        assert waits(story)
        before = len(story.provider.requests)
        assert story.deliver().status == 200
        story.github.edit_comment(comment, "alice", "Euro cents")
        story.tell()
        story.work()
        assert waits(story)
        assert len(story.provider.requests) == before
        story.say(issue, "stop")
        story.work()
        assert story.reply(issue).startswith("**Stopped** · ")
        story.pings(issue)


def test_an_approved_plan_stays_in_the_thread(tmp_path: Path) -> None:
    with telling(tmp_path, in_turn(PLAN, *fix_turns())) as story:
        issue = story.ask("@patchwright plan a fix of the sum")
        story.work()
        assert steady(story.reply(issue)) == (
            f"**Plan** · 1 step · Ns · {FACTS}\n\n"
            "The agent wrote:\n\n> 1. Test it.\n> 2. Fix it.\n\n"
            "Reply `approve` to start, `reject` to cancel, or say what to change.\n\n"
            f"{FOOTER}\n\n{WAITING}"
        )
        assert hear(story, issue, "approve", author="eve") == ["confused"]
        assert waits(story)
        assert hear(story, issue, "> 2. Fix it.\n\nApprove!") == ["eyes"]
        done = steady(story.reply(issue))
        assert done.startswith("**Done, proven** · #2")
        assert done.endswith(
            f"{APPROVED}\n\n{FOOTER}\n\n<!-- patchwright:state=resolved run=RUN -->"
        )
        planned, _ = story.pings(issue)
        assert planned.startswith(
            "@alice **Plan** · please approve it or say what to change, in the comment "
            "above\n"
        )


def test_a_pause_says_who_has_paused_it_and_keeps_the_checklist(
    tmp_path: Path,
) -> None:
    def pause(_request: Request) -> TurnLike:
        story.say(1, "@patchwright pause")
        return second

    first, second, *_ = fix_turns()
    with telling(tmp_path, in_turn(first, pause)) as story:
        issue = story.ask("@patchwright please fix the sum")
        story.work()
        assert steady(story.reply(issue)) == (
            "**Paused** by @alice · 2 steps · Ns · 240 tokens, price unknown\n\n"
            "- [x] Repository checked out in a bubblewrap sandbox\n- [ ] Step 2\n\n"
            "Reply `resume` to continue the run, or `stop` to end it.\n\n"
            f"{FOOTER}\n\n{WAITING}"
        )
        assert hear(story, issue, "@patchwright pause") == ["eyes"]
        assert story.replies(issue)[1].startswith("The run is paused already.")
        hear(story, issue, "stop")
        stopped = steady(story.replies(issue)[0])
        assert "\n\nStopped by @alice.\n\n" in stopped
        assert "\n\nIt stopped at: Step 2.\n\n" in stopped


def test_a_raised_budget_is_confirmed_with_its_figures(tmp_path: Path) -> None:
    def allow(_request: Request) -> TurnLike:
        for words in ("budget +2", "resume", "approve"):
            story.say(1, f"@patchwright {words}")
        return first

    first, *rest = fix_turns()
    with telling(tmp_path, in_turn(allow, *rest)) as story:
        issue = story.ask("@patchwright please fix the sum")
        story.work()
        done, *told = story.replies(issue)
        assert "**Done, proven** · #2" in done
        words = [one.partition("\n")[0] for one in told]
        assert sorted(words) == [
            "Nothing waits for an approval.",
            "The budget is $5.00 now. Spent so far: $0.00.",
            "The run is not paused.",
        ]


@pytest.mark.parametrize("said", ["hi", "Hello there!", "thanks", "help", ""])
def test_a_greeting_and_a_mention_alone_get_the_help_and_make_no_run(
    said: str, tmp_path: Path
) -> None:
    with telling(tmp_path, []) as story:
        issue = story.github.open_issue(REPO, "alice", "Wrong sum", "")
        hear(story, issue, f"@patchwright {said}".strip())
        assert steady(story.reply(issue)) == HELP
        assert listed(story) == []
        assert story.provider.requests == []


def test_questions_about_a_run_are_no_runs(tmp_path: Path) -> None:
    with telling(tmp_path, in_turn(*ASK)) as story:
        issue = story.ask("@patchwright please fix the sum")
        hear(story, issue, "@patchwright cost")
        hear(story, issue, "stop")
        hear(story, issue, "@patchwright status")
        hear(story, issue, "@patchwright budget")
        asked_about = steady(story.replies(issue)[-2])
        assert asked_about.startswith("Nothing is running here. This is how the last")
        assert asked_about.endswith("\n\n<!-- patchwright:state=answered run=RUN -->")
        assert "requested by" not in asked_about
        assert steady(story.replies(issue)[-1]) == (
            "Nothing is running in this thread. `budget` needs an amount in US "
            "dollars: `budget +2` adds $2, `budget 5` makes it $5 in all.\n\n"
            "<!-- patchwright:state=answered run=RUN -->"
        )
        assert listed(story) == [story.jobs()[0].id]
        story.pings(issue)
