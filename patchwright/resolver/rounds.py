"""Decide whether our pull request needs another run: failed checks, or conflicts."""

import re
from collections.abc import Sequence
from typing import Final

from patchwright.core.forge import Checks, CompetingPullRequest, Forge
from patchwright.core.settings.repository import CONFIG_FILE
from patchwright.core.system.clock import Clock
from patchwright.core.text.escape import inline_code
from patchwright.core.text.strings import count_noun
from patchwright.core.types.base import Value
from patchwright.core.types.threads import PullRequest, RepoRef
from patchwright.resolver.context.change_sections import fingerprint

# GitHub checks in the background whether a pull request can be merged, and returns
# null until then. https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
RETRY_DELAYS_S: Final = (1.0, 2.0, 4.0, 8.0)
_NAMED: Final = 5
# Why failed checks were not worked on yet.
PENDING: Final = "checks-pending"


class CheckRound(Value):
    """One round of failed checks: the commit, and which checks failed."""

    sha: str
    fingerprint: str


class StartRound(Value):
    """Work on the checks; store `found` for the next time."""

    found: CheckRound


class SkipRound(Value):
    """Do nothing, and post nothing."""

    reason: str


class StopRounds(Value):
    """Stop working on the checks, and say so; store `found` for the next time."""

    found: CheckRound
    reason: str
    text: str


RoundVerdict = StartRound | SkipRound | StopRounds


def judge_round(
    checks: Checks,
    sha: str,
    earlier: Sequence[CheckRound],
    max_rounds: int,
    config_file: str = CONFIG_FILE,
) -> RoundVerdict:
    """Decide about the checks of a commit; `earlier` are all stored rounds.

    The repository sets the largest number of rounds in its `config_file`. While some
    checks still run, nothing is done: the forge sends an event when they end.
    """
    if checks.pending:
        return SkipRound(reason=PENDING)
    if not checks.failed:
        return SkipRound(reason="checks-passed")
    if max_rounds == 0 or _was_stopped(earlier, max_rounds):
        return SkipRound(reason="rounds-used-up")
    if any(one.sha == sha for one in earlier):
        return SkipRound(reason="seen-before")
    found = CheckRound(sha=sha, fingerprint=fingerprint(checks))
    names = ", ".join(inline_code(check.name) for check in checks.failed[:_NAMED])
    if earlier and earlier[-1].fingerprint == found.fingerprint:
        text = _SAME.format(names=names)
        return StopRounds(found=found, reason="same-failure", text=text)
    if len(earlier) >= max_rounds:
        rounds, file = count_noun(max_rounds, "round"), inline_code(config_file)
        text = _USED_UP.format(rounds=rounds, names=names, file=file)
        return StopRounds(found=found, reason="rounds-used-up", text=text)
    return StartRound(found=found)


_SAME: Final = (
    "The checks fail again in the same way ({names}), so another attempt would "
    "hardly help. The logs are with the checks of this pull request."
)
_USED_UP: Final = (
    "The checks still fail ({names}) after {rounds} of corrections, so I leave it to "
    "you. `ci_rounds` in {file} says how many I may take."
)


def _was_stopped(earlier: Sequence[CheckRound], max_rounds: int) -> bool:
    """Tell whether the rounds were stopped before: that was stored as a round too."""
    last_two = [one.fingerprint for one in earlier[-2:]]
    is_repeated = len(last_two) > 1 and len(set(last_two)) == 1
    return len(earlier) > max_rounds or is_repeated


def judge_conflict(
    pull: PullRequest, earlier: int, max_rounds: int
) -> SkipRound | None:
    """Return why to skip a conflict, or None to work on it.

    `earlier` counts the runs for conflicts since the last request of a person.
    """
    if not pull.is_open:
        return SkipRound(reason="closed")
    if pull.conflicts is None:
        return SkipRound(reason="mergeability-unknown")
    if not pull.conflicts:
        return SkipRound(reason="no-conflict")
    return SkipRound(reason="rounds-used-up") if earlier >= max_rounds else None


def fetch_with_mergeability(
    forge: Forge, repo: RepoRef, number: int, clock: Clock
) -> PullRequest:
    """Return the pull request when the forge knows whether it conflicts.

    The forge begins its check when it is asked; after some seconds we stop waiting.
    """
    pull = forge.fetch_pull_request(repo, number)
    for seconds in RETRY_DELAYS_S:
        if pull.conflicts is not None or not pull.is_open:
            break
        clock.sleep(seconds)
        pull = forge.fetch_pull_request(repo, number)
    return pull


def needs_merge(pull: PullRequest, request: str) -> bool:
    """Tell whether a request is about conflicts, and the pull request has some."""
    return pull.conflicts is True and _ABOUT_CONFLICTS.search(request) is not None


_ABOUT_CONFLICTS: Final = re.compile(
    r"(?i)\b[ck]onfl[ií][ck]?t|конфликт|冲突|衝突|コンフリクト"
    r"|\brebas(?:e|ing)\b|\b(?:update|sync)\b[^.\n]{0,20}\bbranch\b"
    r"|\bmerge\b[^.\n]{0,30}\b(?:main|master|trunk|base|upstream)\b"
)


def merge_text(base_branch: str) -> str:
    """Return the agent's instructions for a merge in progress in its work tree."""
    return (
        f"This pull request conflicts with its base branch `{base_branch}`. The merge "
        "of that branch is under way in your work tree, uncommitted: `git status` "
        "lists what conflicts. Resolve every conflict so that both sides keep their "
        "meaning, remove all conflict markers, and run the tests. Do not abort the "
        "merge, do not rebase, and leave everything else as the merge made it. What "
        "is in the work tree when you finish is committed for you as the merge. "
        "Submodules are moved by the merge alone: leave them."
    )


def find_competing_pull(
    competing_pulls: Sequence[CompetingPullRequest], *, was_told: bool
) -> CompetingPullRequest | None:
    """Return another person's pull request that ours would compete with.

    Returns None if the requester was told about it before and asks again.
    """
    return None if was_told or not competing_pulls else competing_pulls[0]


def competing_pull_text(competing_pull: CompetingPullRequest, handle: str) -> str:
    return (
        f"{competing_pull.name} by {competing_pull.author} is open and says that it "
        "closes this issue, so I have not started another one. Mention "
        f"`{handle}` there to work on that one, or write `{handle} retry` here if you "
        "want mine as well."
    )
