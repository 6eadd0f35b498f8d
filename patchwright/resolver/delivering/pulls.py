"""Open a run's pull request, or describe the one that is there."""

from typing import Final

from patchwright.core.errors import InvalidRequestError, ServiceError
from patchwright.core.forge import PullMetadata, PullRequestText
from patchwright.core.types.threads import PullRequest
from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.destination import Destination, PublisherDependencies
from patchwright.resolver.effects import OpenPullRequest, UpdatePullRequest
from patchwright.resolver.messages.keeping import PeoplesText, find_peoples_text, mark_own_text, combine_texts
from patchwright.resolver.messages.pull_request import (
    MAX_BODY_CHARS,
    pull_request_text,
)
from patchwright.resolver.messages.status import DeliveryResult

_LEAST_CHARS: Final = 6_000


def open_pull_request(
    effect: OpenPullRequest,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
) -> DeliveryResult:
    """Open it; one that is there for the branch already is described anew."""
    repo = to.repository.ref
    found = dependencies.forge.find_pull_request(repo, so_far.branch)
    if found is not None:
        text = _compose_text(outcome, to, find_peoples_text(found), draft=effect.draft)
        pull = dependencies.forge.update_pull_request(repo, found.number, text)
        return _with_pull_request(pull, so_far)
    text = _compose_text(outcome, to, PeoplesText(), draft=effect.draft)
    base = effect.base_branch
    try:
        pull = dependencies.forge.open_pull_request(repo, so_far.branch, base, text)
    except InvalidRequestError:
        if base != to.renamed_from or dependencies.forge.has_branch(repo, base):
            raise
        renamed = to.repository.default_branch
        pull = dependencies.forge.open_pull_request(repo, so_far.branch, renamed, text)
    return _with_pull_request(pull, so_far)


def update_pull_request(
    effect: UpdatePullRequest,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
) -> DeliveryResult:
    repo = to.repository.ref
    found = dependencies.forge.fetch_pull_request(repo, effect.number)
    draft = effect.draft or so_far.is_in_doubt
    text = _compose_text(outcome, to, find_peoples_text(found), draft=draft)
    pull = dependencies.forge.update_pull_request(repo, effect.number, text)
    return _with_pull_request(pull, so_far)


def set_pull_metadata(to: Destination, dependencies: PublisherDependencies, so_far: DeliveryResult) -> DeliveryResult:
    """Put on what the repository wishes; what is refused is a remark and no failure."""
    if so_far.pull_request is None:
        return so_far
    repo, config = to.repository.ref, to.config
    is_person = not to.requester.is_bot
    pull_metadata = PullMetadata(
        labels=config.labels,
        assignees=(to.requester.login,)
        if config.assign_requester and is_person
        else (),
        reviewers=config.reviewers,
        milestone=_milestone(to, dependencies),
    )
    refused = dependencies.forge.set_pull_metadata(repo, so_far.pull_request, pull_metadata)
    return so_far.replace(remarks=(*so_far.remarks, *refused))


def _compose_text(
    outcome: Outcome, to: Destination, kept: PeoplesText, *, draft: bool
) -> PullRequestText:
    room = max(MAX_BODY_CHARS - kept.size, _LEAST_CHARS)
    ours = pull_request_text(outcome, to.origin, draft=draft, max_chars=room)
    return combine_texts(mark_own_text(ours), kept)


def _with_pull_request(pull: PullRequest, so_far: DeliveryResult) -> DeliveryResult:
    return so_far.replace(
        pull_request=pull.number, pull_request_url=pull.url, draft=pull.draft
    )


def _milestone(to: Destination, dependencies: PublisherDependencies) -> int | None:
    """Return the issue's milestone; a pull request has its own, a discussion none."""
    if to.origin.issue is None:
        return None
    try:
        return dependencies.forge.fetch_milestone(to.repository.ref, to.origin.issue)
    except ServiceError:
        return None
