"""Every way to end is told once, with what to do next, and leaves nothing behind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.job import JobState
from tests.fakes.llm.turns import Script, TurnLike, call
from tests.flow.endings import final_message
from tests.flow.script import Request, in_turn
from tests.flow.story import REPO, Story, fix_turns, telling

WISH = "@patchwright fix the sum"
BRANCH = "patchwright/1-wrong-sum"
UNTESTED = call("finish", title="Add a note", summary="Added a note.")
NOTE = call("write", path="note.txt", content="Done.\n")
ASK = "then ask again with `@patchwright`."


@dataclass(frozen=True)
class End:
    """What leads to an end, and what is told and kept of it.

    `cause` is what the run keeps for the operator, whom the thread does not speak to.
    """

    kind: OutcomeKind
    reason: str
    says: tuple[str, ...]
    turns: Callable[[], Script]
    calls: int = 0
    files: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    branches: tuple[str, ...] = ()
    title: str = "Wrong sum"
    wish: str = WISH
    cause: str = ""


def _never_asked() -> Script:
    return []


def _write_and_repeat() -> Script:
    numbers = count()
    again = call("shell", command="ls missing")
    return lambda _request: again if next(numbers) else NOTE


ENDS = {
    "done": End(
        OutcomeKind.RESOLVED,
        "",
        ("**Done, proven** · #2 · 4 steps", "**Proven**"),
        fix_turns,
        calls=1,
        branches=(BRANCH,),
    ),
    "done_without_proof": End(
        OutcomeKind.RESOLVED,
        "",
        ("**Draft, not proven** · #2 · 3 steps", "Review carefully"),
        lambda: [NOTE, UNTESTED],
        calls=1,
        branches=(BRANCH,),
    ),
    "too_vague": End(
        OutcomeKind.NEEDS_INPUT,
        "too-vague",
        ("**Needs you**", "Reply here with your answer."),
        _never_asked,
        calls=1,
        title="Bug",
        wish="@patchwright please fix it",
    ),
    "s29_excess": End(
        OutcomeKind.NEEDS_INPUT,
        "excess",
        (
            "**Needs you**",
            "it touches very many files (2000 paths)",
            "The change is stored.",
            "stored. The operator of the service gets it with `patchwright",
        ),
        lambda: [
            call("shell", command="mkdir many; cd many; touch $(seq 2000)"),
            UNTESTED,
        ],
        calls=1,
    ),
    "plan": End(
        OutcomeKind.PLAN_POSTED,
        "plan",
        ("1. Test it.", "Reply `approve` to start"),
        lambda: [call("finish", summary="A plan.", answer="1. Test it.\n2. Fix it.")],
        calls=1,
        files={".patchwright.toml": 'plan_approval = "comment"\n'},
    ),
    "set_up_failed": End(
        OutcomeKind.FAILED,
        "setup-failed",
        ("(exit 3): `echo no wheels; exit 3`", "no wheels\n", "`@patchwright retry`"),
        _never_asked,
        files={".patchwright.toml": 'setup = "echo no wheels; exit 3"\n'},
    ),
    "s65_stuck": End(
        OutcomeKind.STUCK,
        "repeated-step",
        ("`shell ls missing` was repeated", BRANCH, ASK),
        _write_and_repeat,
        calls=1,
        branches=(BRANCH,),
    ),
    "s54_no_sandbox": End(
        OutcomeKind.FAILED,
        "sandbox",
        (
            "**Failed** (`sandbox`)\n\nThe service could not start or use a sandbox.",
            "\n\nAsk whoever runs this Patchwright to check its sandbox, then reply `@",
        ),
        _never_asked,
        settings={
            "PATCHWRIGHT_SANDBOX__KIND": "docker",
            "PATCHWRIGHT_SANDBOX__IMAGE": "127.0.0.1:1/none:1",
        },
        cause="127.0.0.1:1/none:1",
    ),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_p2_an_end_leaves_one_message_and_nothing_undone(
    tmp_path: Path, end: End
) -> None:
    with telling(
        tmp_path, end.turns(), settings=end.settings, files=end.files
    ) as story:
        number = story.ask(end.wish, title=end.title)
        story.work()
        said = final_message(story, number, end.kind, end.reason, calls=end.calls)
        for words in end.says:
            assert words in said
        assert end.cause in story.outcome().summary
        assert story.branches() == list(end.branches)


def test_p2_an_end_that_took_its_time_calls_whoever_asked(tmp_path: Path) -> None:
    def answer(_request: Request) -> TurnLike:
        story.clock.advance(60)
        return call("finish", summary="Looked.", answer="It adds up the prices.")

    with telling(tmp_path, in_turn(answer)) as story:
        number = story.ask(WISH)
        story.work()
        said = final_message(story, number, OutcomeKind.ANSWERED, calls=1)
        assert "It adds up the prices." in said


def test_p2_a_github_that_fails_while_everything_is_looked_up_is_named(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, []) as story:
        story.github.fail_next("POST", "/graphql$", 502, times=99)
        number = story.ask(WISH)
        story.work()
        said = final_message(story, number, OutcomeKind.FAILED, "service-unavailable")
        assert "**Failed** (`service-unavailable`)" in said
        assert "GitHub answered 502" in said
        assert "Once that is fixed, reply `@patchwright retry`." in said
        assert story.provider.requests == []


def test_p2_a_thread_that_has_had_its_runs_is_told_so(tmp_path: Path) -> None:
    once = {"PATCHWRIGHT_LIMITS__RUNS_PER_THREAD_HOUR": "1"}
    answer = call("finish", summary="Looked.", answer="It adds up the prices.")
    with telling(tmp_path, [answer], settings=once) as story:
        number = story.ask(WISH)
        story.work()
        story.say(number, WISH)
        story.work()
        _, said = story.replies(number)
        first, second = story.jobs()
        assert second.outcome is not None
        assert (second.outcome.kind, second.outcome.reason) == (
            OutcomeKind.REFUSED,
            "too-many-runs",
        )
        assert said.startswith(
            "**Declined**\n\nThis thread has had as many runs within an hour as this "
            "service allows. Ask again later.\n\n<sub>run "
        )
        assert "the limit is 1 (`limits.runs_per_" in second.outcome.summary
        assert f"<!-- patchwright:state=refused run={second.id} -->" in said
        assert {first.state, second.state} == {JobState.DONE}
        assert story.pings(number) == []


def test_p2_a_run_that_is_stopped_keeps_its_work_and_calls_nobody(
    tmp_path: Path,
) -> None:
    def stop(_request: Request) -> TurnLike:
        number = story.github.world.issues_of(REPO)[0].number
        story.say(number, "@patchwright stop")
        return call("shell", command="true")

    with telling(tmp_path, in_turn(NOTE, stop)) as story:
        number = story.ask(WISH)
        story.work()
        said = final_message(story, number, OutcomeKind.STOPPED, "asked")
        assert "alice" in said
        assert BRANCH in said
        assert "To continue, ask again with `@patchwright`." in said
        assert _work_is_kept(story)


def _work_is_kept(story: Story) -> bool:
    return story.branches() == [BRANCH] and not story.github.pull_requests(REPO)


def test_s49_nothing_begins_when_the_disk_is_nearly_full(tmp_path: Path) -> None:
    full = {"PATCHWRIGHT_LIMITS__MIN_FREE_GIB": "100000"}
    with telling(tmp_path, [], settings=full) as story:
        number = story.ask("@patchwright fix the sum")
        story.work()
        assert story.reply(number).startswith(
            "**Failed** (`disk-full`)\n\nThe service has too little free disk space, "
            "so nothing was started.\n\nAsk whoever runs this Patchwright to free disk "
            "space, then reply `@patchwright retry`.\n\n<sub>run "
        )
        assert "100000 GiB must stay free" in story.outcome().summary
        assert not story.pings(number)
        assert story.provider.requests == []
