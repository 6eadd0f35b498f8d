"""Faults of the model and of GitHub that a run outlives."""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from tests.fakes.github.acts import accounts
from tests.fakes.github.bare import git
from tests.fakes.github.state import TokenKind
from tests.fakes.llm.turns import TurnLike, broken_call, no_choices, status
from tests.flow.script import Request, in_turn, results
from tests.flow.story import REPO, fix_turns, telling

WISH = "@patchwright please fix the sum"
BROKEN = ('{"command": "ls', "", "null", "[]")


def test_s60_broken_arguments_are_reported_to_the_model_and_not_run(
    tmp_path: Path,
) -> None:
    def after_error(turn: TurnLike) -> Callable[[Request], TurnLike]:
        def read_error(request: Request) -> TurnLike:
            assert len(results(request)) == next(calls)
            assert "shell was not run" in results(request)[-1]
            return turn

        return read_error

    calls = count(1)
    start, *others = (broken_call("shell", arguments) for arguments in BROKEN)
    first, *rest = fix_turns()
    script = in_turn(start, *map(after_error, (*others, first)), *rest)
    with telling(tmp_path, script) as story:
        issue = story.ask(WISH)
        story.work()
        assert f"**Done, proven** · #2 · {len(BROKEN) + 4} steps" in story.reply(issue)
        assert next(calls) == len(BROKEN) + 1


def test_faults_of_the_provider_are_outlived(tmp_path: Path) -> None:
    """Too many requests for it (s58), too many in all, and no answer in one (s59)."""
    faults = (status(429, Retry_After="0"), status(503), no_choices())
    first, *rest = fix_turns()
    turns = chain.from_iterable(zip(faults, rest, strict=True))
    with telling(tmp_path, [first, *turns]) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven** · #2 · 4 steps" in story.reply(issue)
        assert len(story.provider.requests) == len(faults) + 4


def test_s22_tokens_that_expire_during_a_run_are_renewed(tmp_path: Path) -> None:
    def run_out(_request: Request) -> TurnLike:
        for token in list(story.github.world.tokens.values()):
            if token.kind is TokenKind.INSTALLATION:
                accounts.expire_token(story.github.world, token.value)
        return finish

    *steps, finish = fix_turns()
    with telling(tmp_path, in_turn(*steps, run_out)) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)


def test_a_forged_delivery_starts_nothing(tmp_path: Path) -> None:
    with telling(tmp_path, []) as story:
        story.github.open_issue(REPO, "alice", "Wrong sum", WISH)
        signed = story.github.deliveries[-1]
        forged = replace(signed, body=signed.body.replace(b"alice", b"mally"))
        assert story.deliver(forged).status == 401
        assert story.jobs() == []


def test_an_answer_that_makes_no_sense_does_not_end_in_silence(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        story.github.fail_next(
            "POST", f"/repos/{REPO}/pulls", 201, body={"number": "?"}, times=20
        )
        issue = story.ask(WISH)
        story.work()
        for _ in range(10):
            story.work_later(3600)
        assert (
            "The result could not be delivered: GitHub's answer has an unexpected shape"
            in story.reply(issue)
        )
        assert "[Open the pull request](" in story.reply(issue)


def test_a_mirror_keeps_nothing_of_a_run_that_was_delivered(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)
    [mirror] = (tmp_path / "state" / "mirrors").glob("*/HEAD")
    refs = git(mirror.parent, "for-each-ref", "--format=%(refname)").decode()
    assert refs.split() == ["refs/heads/main"]
