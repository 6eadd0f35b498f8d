"""Open a run's pull request, or describe the one that is there."""

from typing import Final

from patchwright.core.errors import InvalidRequestError, ServiceError
from patchwright.core.forge import Adornment, PullRequestText
from patchwright.core.types.threads import PullRequest
from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.destination import Destination, Means
from patchwright.resolver.effects import OpenPullRequest, UpdatePullRequest
from patchwright.resolver.messages.keeping import Kept, find_kept, mark, weave
from patchwright.resolver.messages.pull_request import (
    MAX_BODY_CHARS,
    pull_request_text,
)
from patchwright.resolver.messages.status import Delivered

_LEAST_CHARS: Final = 6_000


def open_pull_request(
    effect: OpenPullRequest,
    outcome: Outcome,
    to: Destination,
    means: Means,
    so_far: Delivered,
) -> Delivered:
    """Open it; one that is there for the branch already is described anew."""
    repo = to.repository.ref
    found = means.forge.find_pull_request(repo, so_far.branch)
    if found is not None:
        text = _text(outcome, to, find_kept(found), draft=effect.draft)
        pull = means.forge.update_pull_request(repo, found.number, text)
        return _shown(pull, so_far)
    text = _text(outcome, to, Kept(), draft=effect.draft)
    base = effect.base_branch
    try:
        pull = means.forge.open_pull_request(repo, so_far.branch, base, text)
    except InvalidRequestError:
        if base != to.renamed_from or means.forge.has_branch(repo, base):
            raise
        renamed = to.repository.default_branch
        pull = means.forge.open_pull_request(repo, so_far.branch, renamed, text)
    return _shown(pull, so_far)


def update_pull_request(
    effect: UpdatePullRequest,
    outcome: Outcome,
    to: Destination,
    means: Means,
    so_far: Delivered,
) -> Delivered:
    repo = to.repository.ref
    found = means.forge.fetch_pull_request(repo, effect.number)
    draft = effect.draft or so_far.is_in_doubt
    text = _text(outcome, to, find_kept(found), draft=draft)
    pull = means.forge.update_pull_request(repo, effect.number, text)
    return _shown(pull, so_far)


def adorn_pull_request(to: Destination, means: Means, so_far: Delivered) -> Delivered:
    """Put on what the repository wishes; what is refused is a remark and no failure."""
    if so_far.pull_request is None:
        return so_far
    repo, config = to.repository.ref, to.config
    is_person = not to.requester.is_bot
    adornment = Adornment(
        labels=config.labels,
        assignees=(to.requester.login,)
        if config.assign_requester and is_person
        else (),
        reviewers=config.reviewers,
        milestone=_milestone(to, means),
    )
    refused = means.forge.adorn_pull_request(repo, so_far.pull_request, adornment)
    return so_far.replace(remarks=(*so_far.remarks, *refused))


def _text(
    outcome: Outcome, to: Destination, kept: Kept, *, draft: bool
) -> PullRequestText:
    room = max(MAX_BODY_CHARS - kept.size, _LEAST_CHARS)
    ours = pull_request_text(outcome, to.origin, draft=draft, max_chars=room)
    return weave(mark(ours), kept)


def _shown(pull: PullRequest, so_far: Delivered) -> Delivered:
    return so_far.replace(
        pull_request=pull.number, pull_request_url=pull.url, draft=pull.draft
    )


def _milestone(to: Destination, means: Means) -> int | None:
    """Return the issue's milestone; a pull request has its own, a discussion none."""
    if to.origin.issue is None:
        return None
    try:
        return means.forge.fetch_milestone(to.repository.ref, to.origin.issue)
    except ServiceError:
        return None
