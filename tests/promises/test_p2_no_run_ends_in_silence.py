"""Every end of a run leaves exactly one final message, with what to do next."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.llm.turns import (
    Script,
    TurnLike,
    broken_call,
    call,
    no_choices,
    say,
    status,
)
from tests.flow.script import Request, always, asked, in_turn, results
from tests.flow.story import REPO, Story, fix_turns, telling
from tests.flow.text import steady

WISH = "@patchwright please look at the sum"
FOOTER = (
    "<sub>run RUN · requested by alice · thread read at TIME · model "
    "openai/scripted</sub>"
)
KEPT = (
    "The work so far is on [`patchwright/1-wrong-sum`]"
    "(GITHUB/acme/shop/tree/patchwright/1-wrong-sum)."
)

# Stands before words of the agent's.
QUOTED = "The agent wrote:\n\n> "
# What a run was cut short in the middle of is run through the repository's own tests.
OWN_TESTS = (
    "<details><summary>Evidence: 2 commands, run by the controller in fresh sandboxes"
    "</summary>\n\n"
    "The repository's own tests, `python3 -m unittest test_cart.py`: 1 test compared."
    "\n\n"
    "| | command | commit | result | time |\n|---|---|---|---|---|\n"
    "| own tests, without it | `python3 -m unittest test_cart.py` | `COMMIT` | 🟢 exit "
    "0 | N s |\n"
    "| own tests, with it | `python3 -m unittest test_cart.py` | `COMMIT` | 🟢 exit 0 "
    "| N s |\n\n"
    "</details>\n\n"
)
TESTED = (
    "- [x] Agent finished\n"
    "- [x] `python3 -m unittest test_cart.py` the repository's own tests, before the "
    "change: exit 0\n"
    "- [x] `python3 -m unittest test_cart.py` the repository's own tests, after the "
    "change: exit 0\n"
)
ASK = "Ask whoever runs this Patchwright to"
RETRY = "then reply `@patchwright retry`."
NARROWER = (
    "Narrow the request and ask again with `@patchwright`, or ask whoever runs this "
    "Patchwright"
)
AGAIN = "Once that is fixed, reply `@patchwright retry`."


def _stopped(doing: str, then: str = "") -> str:
    """Return what is said of where a run stopped that was cut short."""
    return (
        f"It stopped at: {doing}.\n\n"
        "<details><summary>What it had done</summary>\n\n"
        f"- [x] Repository checked out in a bubblewrap sandbox\n{then}\n"
        "</details>\n\n"
    )


@dataclass(frozen=True)
class End:
    """How a model behaves, and what the thread is told in the end."""

    turns: Callable[[], Script]
    kind: OutcomeKind
    message: str
    settings: dict[str, str] = field(default_factory=dict)
    state: str = ""


def _write_and(turn: TurnLike) -> Script:
    """Change something, then do the same thing for ever."""
    numbers = count()

    def answer(_request: object) -> TurnLike:
        return turn if next(numbers) else call("write", path="half.py", content="1\n")

    return answer


def _never_finish() -> Script:
    numbers = count()
    return lambda _request: call("write", path="half.py", content=f"{next(numbers)}\n")


ENDS = {
    "s31_no_change": End(
        lambda: [call("finish", summary="The sum is right: it counts each piece.")],
        OutcomeKind.NO_CHANGE,
        "**No change** · 1 step · Ns · 120 tokens, price unknown\n\n"
        f"{QUOTED}The sum is right: it counts each piece.",
    ),
    "question": End(
        lambda: [call("finish", summary="Looked.", answer="It adds up the prices.")],
        OutcomeKind.ANSWERED,
        "**Answered** · 1 step · Ns · 120 tokens, price unknown\n\n"
        f"{QUOTED}It adds up the prices.",
    ),
    "reject": End(
        lambda: [call("reject", reason="The price list is in another repository.")],
        OutcomeKind.REFUSED,
        "**Declined** · 1 step · Ns · 120 tokens, price unknown\n\n"
        f"{QUOTED}The price list is in another repository.",
    ),
    "s64_only_talk": End(
        lambda: always(say("Which currency did you mean?")),
        OutcomeKind.NEEDS_INPUT,
        f"**Needs you** · 3 steps · Ns · 360 tokens, price unknown\n\n{QUOTED}Which "
        "currency did you mean?\n\nReply here with your answer. The run waits for it "
        "and costs nothing.",
        state="waiting",
    ),
    "key_not_accepted": End(
        list,
        OutcomeKind.FAILED,
        "**Failed** (`model-credential`) · 1 step · Ns · $0.00 of $3.00\n\n"
        "The service's model key was refused.\n\n"
        f"{_stopped('Step 1')}{ASK} check the key, {RETRY}",
        {"LLM_API_KEY": "sk-wrong-0123456789abcdef"},
    ),
    "s60_broken_arguments": End(
        lambda: always(broken_call("shell", '{"command": "ls')),
        OutcomeKind.STUCK,
        "**Stuck** · 6 steps · Ns · 720 tokens, price unknown\n\n`shell` was "
        "repeated 3 times with the same result. It was: shell was not run: its "
        "arguments are broken. The arguments were not valid JSON: Unterminated "
        f"string starting at: line 1 column 13 (char 12)\n\n{_stopped('Step 6')}Add "
        "information that could help, then ask again with `@patchwright`.",
    ),
    "never_finishes": End(
        _never_finish,
        OutcomeKind.OVER_LIMIT,
        "**Over the limit** · 6 steps · Ns · 720 tokens, price unknown · 1 file, +1 -0"
        "\n\n"
        "The limit of 6 steps was reached.\n\n"
        f"{OWN_TESTS}{KEPT}\n\n{_stopped('Step 6: `write half.py`', TESTED)}"
        f"{NARROWER} to allow more than 6 steps.",
        {"PATCHWRIGHT_LIMITS__MAX_ITERATIONS": "6"},
    ),
    "s65_loop": End(
        lambda: _write_and(call("shell", command="ls missing")),
        OutcomeKind.STUCK,
        "**Stuck** · 9 steps · Ns · 1,080 tokens, price unknown · 1 file, +1 -0\n\n"
        "`shell ls missing` was repeated 4 times with the same result.\n\n"
        f"{OWN_TESTS}{KEPT}\n\n"
        f"{_stopped('Step 9: `shell ls missing`', TESTED)}"
        "Add information that could help, then ask again with `@patchwright`.",
    ),
    "s59_no_choices": End(
        lambda: always(no_choices(prompt_tokens=4241)),
        OutcomeKind.FAILED,
        "**Failed** (`model-empty-reply`) · 1 step · Ns · 12,726 tokens, price "
        "unknown\n\n"
        "The model openai/scripted at 127.0.0.1:PORT answered with nothing (tries: "
        f"3).\n\n{_stopped('Step 1')}{AGAIN}",
    ),
    "model_retired": End(
        lambda: always(status(400, "This model is retired")),
        OutcomeKind.FAILED,
        "**Failed** (`model-request`) · 1 step · Ns · $0.00 of $3.00\n\n"
        "The model's provider refused the request of this service.\n\n"
        f"{_stopped('Step 1')}{ASK} check the name of the model, {RETRY}",
    ),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_an_end_is_told_once_and_clearly(tmp_path: Path, end: End) -> None:
    with telling(tmp_path, end.turns(), settings=end.settings) as story:
        issue = story.ask(WISH)
        story.work()
        assert steady(story.reply(issue)) == _final(end.message, end.state or end.kind)
        assert story.outcome().kind is end.kind
        assert story.github.pull_requests(REPO) == []
        assert bool(story.branches()) == (KEPT in end.message)


def test_a_run_that_takes_too_long_says_so(tmp_path: Path) -> None:
    def idle(_request: Request) -> TurnLike:
        story.clock.advance(3600)
        return call("shell", command="true")

    with telling(tmp_path, in_turn(idle)) as story:
        issue = story.ask(WISH)
        story.work()
        assert steady(story.reply(issue)) == _final(
            "**Timed out** · 1 step · 1h 0m · 120 tokens, price unknown\n\n"
            "The limit of 30 minutes was reached.\n\n"
            f"{_stopped('Step 1: `shell true`')}"
            f"{NARROWER} to allow more than 30 minutes.",
            OutcomeKind.TIMED_OUT,
        )


def test_a_run_whose_workers_are_lost_says_so(tmp_path: Path) -> None:
    with telling(tmp_path, []) as story:
        issue = story.ask(WISH)
        [job] = story.jobs()
        for _ in range(3):
            story.base.stores.leases.claim(job.id, "lost", 30.0)
            story.clock.advance(60)
        story.work()
        assert steady(story.reply(issue)) == _final(
            "**Failed** (`worker-lost`)\n\n"
            "The worker was lost 3 times in the middle of this run, so it is not tried "
            "again. The service's log has the cause.\n\n"
            f"{ASK} look at this run in its log, {RETRY}",
            OutcomeKind.FAILED,
        )
        assert story.provider.requests == []


@pytest.fixture
def in_docker(sandbox_image: str) -> dict[str, str]:
    return {
        "PATCHWRIGHT_SANDBOX__KIND": "docker",
        "PATCHWRIGHT_SANDBOX__IMAGE": sandbox_image,
    }


def test_s55_a_run_whose_sandbox_is_lost_goes_on_in_a_new_one_and_is_told(
    tmp_path: Path, in_docker: dict[str, str]
) -> None:
    def lose(_request: Request) -> TurnLike:
        _lose_sandbox(story)
        return call("shell", command="true")

    def look(request: Request) -> TurnLike:
        assert "the result of this action is unknown" in results(request)[-1].lower()
        assert "The sandbox of this run was lost" in asked(request)
        return fix_turns()[0]

    turns = in_turn(lose, look, *fix_turns()[1:])
    with telling(tmp_path, turns, settings=in_docker) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)


def test_a_run_that_loses_one_sandbox_after_the_other_says_so(
    tmp_path: Path, in_docker: dict[str, str]
) -> None:
    def lose(_request: Request) -> TurnLike:
        _lose_sandbox(story)
        return call("shell", command="true")

    with telling(tmp_path, lose, settings=in_docker) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Failed** (`sandbox-lost`)" in story.reply(issue)
        assert AGAIN in story.reply(issue)


def _lose_sandbox(story: Story) -> None:
    [job] = story.jobs()
    story.runner._services.sandboxes.remove(job.id)


def _final(message: str, state: str) -> str:
    mark = f"<!-- patchwright:state={state} run=RUN -->"
    return f"{message}\n\n{FOOTER}\n\n{mark}"
