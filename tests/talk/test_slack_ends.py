"""How a run ends in Slack: one message, edited in place, whatever its length."""

import re
from pathlib import Path

from tests.fakes.llm.turns import call, status
from tests.flow.office import in_office, state_in
from tests.flow.script import always, in_turn
from tests.flow.story import fix_turns
from tests.flow.text import steady

WISH = "fix the total in acme/shop"
LISTING = call("shell", command="ls")
TIGHT = {
    "PATCHWRIGHT_LLM__INPUT_COST_PER_TOKEN": "0",
    "PATCHWRIGHT_LLM__OUTPUT_COST_PER_TOKEN": "0.01",
    "PATCHWRIGHT_LLM__MAX_OUTPUT_TOKENS": "100",
    "PATCHWRIGHT_LIMITS__MAX_COST_USD": "1.10",
}
DONE = """\
*Done, proven* · <GITHUB/acme/shop/pull/1|pull request #1> · 4 steps · Ns · \
480 tokens, price unknown · 2 files, +9 -1 · <GITHUB/runs/RUN|run>

🟢 *Proven*: in fresh sandboxes, the test fails without the change and passes with it, \
and no test that passed before fails now. \
`test_pieces.PiecesTest.test_every_piece_counts`: failed without the change, passed \
with it.

The agent wrote:

> *Bold* and a link `https://example.com`, &lt;!channel&gt;, `a &lt; b`.
run RUN · requested by Jo Doe · in acme/shop · thread read at TIME · model \
openai/scripted
Open pull request"""
FAILED = """\
*Failed* (`model-credential`) · 1 step · $0.00 of $3.00 · <GITHUB/runs/RUN|run>

The service's model key was refused.

It stopped at: Step 1.

*What it had done*

☑ Repository checked out in a … sandbox

Ask whoever runs this Patchwright to check the key, then reply `@patchwright retry`.
run RUN · requested by Jo Doe · in acme/shop · thread read at TIME · model \
openai/scripted
Retry"""


def without_place(text: str) -> str:
    """Leave out which sandbox this machine has, and the time if there was any."""
    text = re.sub(r"out in an? \S+ sandbox", "out in a … sandbox", text)
    return text.replace(" · Ns · $", " · $")


def test_s71_a_result_is_shown_in_slacks_format(tmp_path: Path) -> None:
    summary = "**Bold** and [a link](https://example.com), <!channel>, `a < b`."
    finish = call(
        "finish",
        title="Count every piece",
        summary=summary,
        test_commands=["python3 -m unittest test_pieces"],
    )
    with in_office(tmp_path, in_turn(*fix_turns()[:-1], finish)) as office:
        thread = office.slack.ask(WISH)
        office.story.work()
        [done] = office.slack.runs(thread)
        assert steady(done.shown) == DONE
        [job] = office.story.jobs()
        assert state_in(done) == "resolved"
        assert done.metadata is not None
        assert done.metadata["event_payload"]["run"] == job.id


def test_a_failure_is_said_in_the_one_message(tmp_path: Path) -> None:
    turns = always(status(401, "Incorrect API key provided: sk-story-0123456789"))
    with in_office(tmp_path, turns) as office:
        thread = office.slack.ask(WISH)
        office.story.work()
        [failed] = office.slack.answers(thread)
        assert without_place(steady(failed.shown)) == FAILED
        assert state_in(failed) == "failed"


def test_the_end_of_the_budget_is_said_in_the_one_message(tmp_path: Path) -> None:
    with in_office(tmp_path, always(LISTING), settings=TIGHT) as office:
        slack = office.slack
        thread = slack.ask(WISH)
        office.story.work()
        [over] = slack.answers(thread)
        assert over.shown.startswith("*Over budget* · ")
        assert "to allow more than $1.10 for a run." in over.shown
        assert state_in(over) == "over-budget"
        assert slack.fake.buttons(over) == ["Retry"]


def test_a_result_too_long_for_one_message_goes_on_in_the_next(tmp_path: Path) -> None:
    paragraphs = "\n\n".join(f"{number}. {'word ' * 100}" for number in range(40))
    answer = call("finish", summary="Long.", answer=paragraphs)
    again = call("finish", summary="Short.", answer="Short.")
    with in_office(tmp_path, in_turn(answer, again)) as office:
        slack = office.slack
        thread = slack.ask("plan: what is in acme/shop?")
        office.story.work()
        [planned] = slack.runs(thread)
        parts = [one for one in slack.answers(thread) if "word word" in one.shown]
        assert len(parts) == 2
        assert parts[0] == planned
        assert "39. word" in parts[1].shown
        # What is edited to be short again leaves nothing behind.
        slack.fake.say(slack.jo, slack.channel, "shorter, please", thread)
        office.story.work()
        [planned] = slack.runs(thread)
        assert "Short." in planned.shown
        left = [one for one in slack.answers(thread) if "word word" in one.shown]
        assert left == []
