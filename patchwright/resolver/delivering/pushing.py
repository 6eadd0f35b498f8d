"""Put a run's commit on its branch, and nowhere it does not belong."""

from typing import Final
from urllib.parse import quote

from patchwright.core.errors import (
    BranchMovedError,
    NotFoundError,
    PatchwrightError,
    PermissionDeniedError,
    PushRefusedError,
)
from patchwright.core.text.fence import inline_code
from patchwright.core.text.names import branch_name
from patchwright.core.types.threads import Repository
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.remote import BranchUpdate
from patchwright.resolver.delivering.destination import Destination, Means
from patchwright.resolver.delivering.signed import push_signed
from patchwright.resolver.effects import PushBranch
from patchwright.resolver.messages.status import Delivered

_REFUSALS: Final = (
    BranchMovedError,
    NotFoundError,
    PermissionDeniedError,
    PushRefusedError,
)


def push(
    effect: PushBranch, outcome: Outcome, to: Destination, means: Means
) -> Delivered:
    """Push; where somebody else holds the branch, to one of our own instead."""
    try:
        sha = _write(effect, outcome, to, means)
    except _REFUSALS as error:
        aside = _aside(effect, error, to)
        if aside is None:
            raise
        sha = _write(aside, outcome, to, means)
        pushed = _pushed(aside, sha, outcome, to)
        if not effect.expect:
            return pushed
        why = _why_left_alone(effect, error, aside, to)
        return pushed.model_copy(update={"left_alone": why})
    return _pushed(effect, sha, outcome, to)


def _write(effect: PushBranch, outcome: Outcome, to: Destination, means: Means) -> str:
    """Return the commit that is on the branch now: ours, or as the forge made it."""
    signed = push_signed(effect, outcome, to, means)
    if signed is not None:
        return signed
    _push_to(effect, to, means)
    return effect.sha


def _aside(
    effect: PushBranch, error: PatchwrightError, to: Destination
) -> PushBranch | None:
    """Return what to push instead, or None where nothing else would help."""
    run = to.origin.run_id[:8]
    if not effect.expect:
        other = f"{effect.branch}-{run}"
        is_taken = isinstance(error, BranchMovedError)
        return PushBranch(branch=other, sha=effect.sha) if is_taken else None
    if effect.fork or isinstance(error, BranchMovedError | PushRefusedError):
        return PushBranch(branch=branch_name(to.thread.token, run), sha=effect.sha)
    return None


def _push_to(effect: PushBranch, to: Destination, means: Means) -> None:
    """Push with the rights that we have in the thread's own repository.

    Who may write there may write to a fork's branch that its owner has opened to the
    maintainers, and to no other branch of the fork.
    https://docs.github.com/pull-requests/collaborating-with-pull-requests/working-with-forks/allowing-changes-to-a-pull-request-branch-created-from-a-fork
    """
    own = {to.repository.default_branch}
    means.fetch_mirror().push(
        _sibling(to.repository.clone_url, to.repository, effect.fork),
        means.forge.mint_credential(to.repository.ref),
        BranchUpdate(
            branch=effect.branch,
            sha=effect.sha,
            expect=effect.expect or None,
            forbidden_branches=() if effect.fork else own,
        ),
    )


def _sibling(url: str, repository: Repository, full_name: str) -> str:
    """Return an address of the repository as it is for another one of the forge."""
    if not full_name:
        return url
    root, own, end = url.rpartition(repository.ref.full_name)
    return f"{root}{full_name}{end}" if own else url


def _why_left_alone(
    effect: PushBranch, error: PatchwrightError, aside: PushBranch, to: Destination
) -> str:
    branch = inline_code(effect.branch)
    if not effect.fork:
        return f"{branch} was left alone: {error}."
    closed = isinstance(error, PermissionDeniedError | NotFoundError)
    why = "the service does not let us write there" if closed else str(error)
    return (
        f"{branch} of `{effect.fork}` was left alone: {why}. Its owner can take the "
        f"change over: `git pull {to.repository.clone_url} {aside.branch}`."
    )


def _pushed(
    effect: PushBranch, sha: str, outcome: Outcome, to: Destination
) -> Delivered:
    site = to.repository.web_url
    branch = quote(effect.branch)
    owner = f"{effect.fork.partition('/')[0]}:" if effect.fork else ""
    return Delivered(
        branch=effect.branch,
        head_sha=sha,
        branch_url=f"{_sibling(site, to.repository, effect.fork)}/tree/{branch}",
        compare_url=f"{site}/compare/{quote(outcome.base_branch)}...{owner}{branch}",
    )
