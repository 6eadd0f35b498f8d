"""When what became of our pull request calls for another run, and when not."""

from dataclasses import dataclass, field

import pytest

from patchwright.core.forge import Checks, CompetingPullRequest, FailedCheck
from patchwright.core.types.threads import PullRequest
from patchwright.resolver.context.change_sections import fingerprint
from patchwright.resolver.rounds import (
    CheckRound,
    SkipRound,
    StartRound,
    StopRounds,
    competing_pull_text,
    find_competing_pull,
    judge_conflict,
    judge_round,
    merge_text,
    needs_merge,
)

RED = Checks(failed=(FailedCheck(name="test", log="boom"),))
OTHER = Checks(failed=(FailedCheck(name="test", log="bang"),))
FIRST = CheckRound(sha="a", fingerprint=fingerprint(RED))
PULL = PullRequest(
    number=8,
    url="https://example.com/acme/shop/pull/8",
    head_branch="fix",
    base_branch="trunk",
    head_sha="a" * 40,
    draft=False,
    same_repository=True,
)
RIVAL = CompetingPullRequest(
    number=12, url="https://example.com/acme/shop/pull/12", author="bob"
)


@dataclass
class Kept:
    """Rounds as they are kept from one verdict to the next."""

    rounds: list[CheckRound] = field(default_factory=list)

    def judge(self, checks: Checks, sha: str, max_rounds: int = 2) -> str:
        verdict = judge_round(checks, sha, self.rounds, max_rounds)
        if isinstance(verdict, SkipRound):
            return f"quiet: {verdict.reason}"
        self.rounds.append(verdict.found)
        return "go" if isinstance(verdict, StartRound) else f"enough: {verdict.reason}"


def test_a_failure_is_worked_on() -> None:
    assert judge_round(RED, "a", (), 2) == StartRound(found=FIRST)


@pytest.mark.parametrize(
    ("checks", "reason"),
    [
        (Checks(), "checks-passed"),
        (RED.replace(pending=("slow",)), "checks-pending"),
    ],
)
def test_nothing_is_done_while_checks_run_or_when_none_failed(
    checks: Checks, reason: str
) -> None:
    assert judge_round(checks, "a", (), 2) == SkipRound(reason=reason)


def test_a_second_suite_that_fails_on_the_same_commit_is_no_new_round() -> None:
    assert judge_round(OTHER, "a", (FIRST,), 2) == SkipRound(reason="seen-before")


def test_the_same_failure_after_a_correction_is_told_once() -> None:
    kept = Kept()
    said = [kept.judge(RED, sha) for sha in "abcd"]
    quiet = "quiet: rounds-used-up"
    assert said == ["go", "enough: same-failure", quiet, quiet]


def test_rounds_are_bounded_and_their_end_is_told_once() -> None:
    kept = Kept()
    red = [
        Checks(failed=(FailedCheck(name="test", log=log),))
        for log in ("one", "two", "three", "four", "five")
    ]
    said = [kept.judge(checks, sha) for checks, sha in zip(red, "abcde", strict=True)]
    quiet = "quiet: rounds-used-up"
    assert said == ["go", "go", "enough: rounds-used-up", quiet, quiet]


def test_no_rounds_means_silence() -> None:
    assert Kept().judge(RED, "a", max_rounds=0) == "quiet: rounds-used-up"


def test_the_end_is_told_in_words_for_people() -> None:
    same = judge_round(RED, "b", (FIRST,), 2)
    assert isinstance(same, StopRounds)
    assert same.text == (
        "The checks fail again in the same way (`test`), so another attempt would "
        "hardly help. The logs are with the checks of this pull request."
    )
    used_up = judge_round(OTHER, "b", (FIRST,), 1)
    assert isinstance(used_up, StopRounds)
    assert used_up.text == (
        "The checks still fail (`test`) after 1 round of corrections, so I leave it "
        "to you. `ci_rounds` in `.patchwright.toml` says how many I may take."
    )


@pytest.mark.parametrize(
    ("pull", "earlier", "reason"),
    [
        (PULL.replace(conflicts=True), 0, None),
        (PULL.replace(conflicts=True), 2, "rounds-used-up"),
        (PULL.replace(conflicts=False), 0, "no-conflict"),
        (PULL.replace(conflicts=None), 0, "mergeability-unknown"),
        (PULL.replace(conflicts=True, is_open=False), 0, "closed"),
    ],
)
def test_only_a_conflict_that_is_there_is_worked_on(
    pull: PullRequest, earlier: int, reason: str | None
) -> None:
    verdict = judge_conflict(pull, earlier, 2)
    assert (verdict.reason if verdict else None) == reason


@pytest.mark.parametrize(
    ("request_text", "is_about_it"),
    [
        ("resolve the conflicts", True),
        ("Please fix the merge conflict", True),
        ("rebase this", True),
        ("update the branch", True),
        ("merge main into this", True),
        ("löse die Konflikte", True),
        ("résous les conflits", True),
        ("resuelve los conflictos", True),
        ("解决冲突", True),
        ("fix the sum", False),
        ("address the review", False),
        ("the database is slow", False),
    ],
)
def test_a_request_about_conflicts_is_known(
    request_text: str, *, is_about_it: bool
) -> None:
    torn = PULL.replace(conflicts=True)
    assert needs_merge(torn, request_text) is is_about_it
    assert not needs_merge(PULL, request_text)


def test_the_agent_is_told_what_lies_in_its_work_tree() -> None:
    assert "its base branch `trunk`. The merge of that branch" in merge_text("trunk")


def test_s35_a_competing_pull_request_is_respected_until_somebody_insists() -> None:
    assert find_competing_pull((RIVAL,), was_told=False) == RIVAL
    assert find_competing_pull((RIVAL,), was_told=True) is None
    assert find_competing_pull((), was_told=False) is None
    assert competing_pull_text(RIVAL, "@bot") == (
        "#12 by bob is open and says that it closes this issue, so I have not started "
        "another one. Mention `@bot` there to work on that one, or write `@bot retry` "
        "here if you want mine as well."
    )
