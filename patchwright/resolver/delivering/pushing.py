"""Put a run's commit on its branch, and nowhere it does not belong."""

from patchwright.core.errors import BranchMovedError, PushRefusedError
from patchwright.core.text.names import branch_name
from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.destination import Destination, Means
from patchwright.resolver.effects import PushBranch
from patchwright.resolver.messages.status import Delivered


def push(
    effect: PushBranch, outcome: Outcome, to: Destination, means: Means
) -> Delivered:
    """Push; where somebody else holds the branch, to one of our own instead."""
    try:
        _push_to(effect.branch, effect.expect, effect.sha, to, means)
    except (BranchMovedError, PushRefusedError) as error:
        if isinstance(error, PushRefusedError) and not effect.expect:
            raise
        run = to.origin.run_id[:8]
        if not effect.expect:
            other = f"{effect.branch}-{run}"
            _push_to(other, "", effect.sha, to, means)
            return _pushed(other, outcome, to)
        own = branch_name(to.thread.number, run)
        _push_to(own, "", effect.sha, to, means)
        why = f"`{effect.branch}` was left alone: {error}."
        return _pushed(own, outcome, to).model_copy(update={"left_alone": why})
    return _pushed(effect.branch, outcome, to)


def _push_to(branch: str, expect: str, sha: str, to: Destination, means: Means) -> None:
    means.fetch_mirror().push(
        to.repository.clone_url,
        means.forge.mint_credential(to.repository.ref),
        sha=sha,
        branch=branch,
        expect=expect or None,
        forbidden_branches={to.repository.default_branch},
    )


def _pushed(branch: str, outcome: Outcome, to: Destination) -> Delivered:
    site = to.repository.web_url
    return Delivered(
        branch=branch,
        branch_url=f"{site}/tree/{branch}",
        compare_url=f"{site}/compare/{outcome.base_branch}...{branch}",
    )
