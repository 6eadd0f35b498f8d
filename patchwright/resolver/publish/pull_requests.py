"""Open or update a run's pull request, and answer its reviewers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import structlog

from patchwright.core.forge import (
    ForgePullMetadata,
    PullMetadata,
    PullRequestText,
    Reviews,
)
from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
)
from patchwright.core.types.evidence import Proof
from patchwright.core.types.threads import ForgeThread, PullRequest
from patchwright.core.types.work import Outcome, ReviewAnswer, ReviewVerdict
from patchwright.resolver.messages.body_parts import (
    BodyState,
    find_state,
    has_parts,
    replace_parts,
)
from patchwright.resolver.messages.proof_markdown import CodeLinks
from patchwright.resolver.messages.pull_request import (
    MAX_BODY_CHARS,
    pull_request_text,
    review_mark,
    review_reply,
)
from patchwright.resolver.messages.pull_request_body import (
    PeoplesText,
    combine_texts,
    find_peoples_text,
    mark_own_text,
)
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.destination import Destination, PublisherDependencies
from patchwright.resolver.publish.effects import (
    AnswerReviews,
    OpenPullRequest,
    RefreshEvidence,
    UpdatePullRequest,
)

_LEAST_CHARS: Final = 6_000


def open_pull_request(
    effect: OpenPullRequest,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
) -> DeliveryResult:
    """Open it; an existing one for the branch is updated."""
    repo = to.repository.ref
    head_sha = so_far.head_sha or outcome.head_sha
    found = dependencies.forge.find_pull_request(repo, so_far.branch)
    if found is not None:
        text = _renewed_text(outcome, to, found, head_sha, draft=effect.draft)
        pull = dependencies.forge.update_pull_request(repo, found.number, text)
        return _with_pull_request(pull, so_far)
    text = _first_text(outcome, to, PeoplesText(), head_sha, draft=effect.draft)
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
    """Describe it anew: what is shown of its new head, and what was done for that."""
    repo = to.repository.ref
    found = dependencies.forge.fetch_pull_request(repo, effect.number)
    head_sha = so_far.head_sha or outcome.head_sha
    draft = effect.draft or so_far.is_in_doubt
    text = _renewed_text(outcome, to, found, head_sha, draft=draft)
    pull = dependencies.forge.update_pull_request(repo, effect.number, text)
    return _with_pull_request(pull, so_far)


def refresh_evidence(
    effect: RefreshEvidence,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
) -> DeliveryResult:
    """Say what is shown of a head that others have pushed; their words stay.

    Who has pushed has chosen whether it is a draft, too.
    """
    repo = to.repository.ref
    found = dependencies.forge.fetch_pull_request(repo, effect.number)
    if not found.is_open or found.head_sha != effect.sha:
        return so_far
    text = _renewed_text(
        outcome, to, found, effect.sha, draft=found.draft, adds_words=False
    )
    pull = dependencies.forge.update_pull_request(repo, effect.number, text)
    return _with_pull_request(pull, so_far)


def set_pull_metadata(
    to: Destination, dependencies: PublisherDependencies, so_far: DeliveryResult
) -> DeliveryResult:
    """Set labels, reviewers and assignees; a refusal is a remark and no failure."""
    capability = dependencies.forge.pull_metadata
    if so_far.pull_request is None or capability is None:
        return so_far
    repo, config = to.repository.ref, to.config
    is_person = not to.requester.is_bot
    pull_metadata = PullMetadata(
        labels=config.labels,
        assignees=(to.requester.login,)
        if config.assign_requester and is_person
        else (),
        reviewers=config.reviewers,
        milestone=_milestone(to, capability),
    )
    refused = capability.set_pull_metadata(repo, so_far.pull_request, pull_metadata)
    return so_far.replace(remarks=(*so_far.remarks, *refused))


def _first_text(
    outcome: Outcome, to: Destination, kept: PeoplesText, head_sha: str, *, draft: bool
) -> PullRequestText:
    room = max(MAX_BODY_CHARS - kept.size, _LEAST_CHARS)
    state = BodyState(head_sha=head_sha, level=outcome.proof, is_draft=draft)
    ours = pull_request_text(
        outcome, to.origin, draft=draft, max_chars=room, state=state
    )
    return combine_texts(mark_own_text(ours), kept)


def _renewed_text(
    outcome: Outcome,
    to: Destination,
    found: PullRequest,
    head_sha: str,
    *,
    draft: bool,
    adds_words: bool = True,
) -> PullRequestText:
    """Say what is true of a new head, and leave what people have written.

    The title and the words of earlier runs stay: the pull request has their work, too.
    """
    left = find_state(found.body)
    # What tests speak against becomes a draft, whatever a person has made of it.
    is_contradicted = outcome.proof is Proof.CONTRADICTED
    is_theirs = left is not None and left.is_draft != found.draft
    stays = is_theirs and not is_contradicted
    will_be = is_contradicted or (found.draft if stays else draft)
    if not has_parts(found.body):
        kept = find_peoples_text(found)
        text = _first_text(outcome, to, kept, head_sha, draft=draft)
        return text.replace(draft=will_be)
    noted = left.is_draft if left and stays else will_be
    state = BodyState(head_sha=head_sha, level=outcome.proof, is_draft=noted)
    ours = pull_request_text(outcome, to.origin, draft=will_be, state=state)
    body = replace_parts(found.body, ours.body, adds_words=adds_words)
    return PullRequestText(title=found.title, body=body, draft=will_be)


def _with_pull_request(pull: PullRequest, so_far: DeliveryResult) -> DeliveryResult:
    return so_far.with_pull(pull)


def _milestone(to: Destination, capability: ForgePullMetadata) -> int | None:
    """Return the issue's milestone; a pull request has its own, a discussion none."""
    if to.origin.issue is None:
        return None
    try:
        return capability.fetch_milestone(to.repository.ref, to.origin.issue)
    except ServiceError:
        return None


_REMARK: Final = "Not every review thread could be answered or resolved."

log = structlog.get_logger(__name__)


def answer_reviews(
    effect: AnswerReviews,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
) -> DeliveryResult:
    """Answer what the agent has answered, settle what its commit has seen to.

    A thread that has its answer gets no second one. What is refused for one thread
    keeps the others from nothing.
    """
    repo = to.repository.ref
    pull = to.repository.forms.pull(repo, effect.number)
    sha = (so_far.head_sha or outcome.head_sha) if so_far.branch else ""
    commit = CodeLinks(to.repository.pages_url).commit(sha) if sha else ""
    failed = False
    if dependencies.reviews is not None:
        for answer in _last_answers(outcome.reviews, len(to.review_threads)):
            done = _answer_thread(answer, pull, commit, to, dependencies.reviews)
            failed = failed or not done
    if commit:
        _request_review_again(effect.number, to, dependencies)
    remarks = (*so_far.remarks, _REMARK) if failed else so_far.remarks
    return so_far.replace(remarks=remarks)


def _last_answers(
    answers: tuple[ReviewAnswer, ...], threads: int
) -> list[ReviewAnswer]:
    """Return the last answer for each thread that there is."""
    by_thread = {answer.thread: answer for answer in answers}
    return [by_thread[one] for one in sorted(by_thread) if 1 <= one <= threads]


def _answer_thread(
    answer: ReviewAnswer,
    pull: ForgeThread,
    commit: str,
    to: Destination,
    reviews: Reviews,
) -> bool:
    thread = to.review_threads[answer.thread - 1]
    run_id = to.frame.run_id
    mark = review_mark(run_id, answer.thread)
    with _collecting_refusals(answer.thread) as refused:
        if reviews.find_review_answer(pull, thread, mark) is None:
            reply = review_reply(
                answer, run_id=run_id, commit=commit, handle=to.frame.handle
            )
            reviews.answer_review(pull, thread, reply)
        if commit and answer.verdict is ReviewVerdict.ADDRESSED:
            reviews.resolve_review(pull, thread)
    return not refused


def _request_review_again(
    number: int, to: Destination, dependencies: PublisherDependencies
) -> None:
    """Call back those who had asked for changes: there is something new to see."""
    repo, capability = to.repository.ref, dependencies.forge.pull_metadata
    if capability is None:
        return
    with _collecting_refusals(number):
        change_requesters = capability.fetch_change_requesters(repo, number)
        if change_requesters:
            capability.request_review(repo, number, change_requesters)


@contextmanager
def _collecting_refusals(number: int) -> Iterator[list[str]]:
    """Go on where the service says no; what it said is in the list then."""
    refused: list[str] = []
    try:
        yield refused
    except (InvalidRequestError, NotFoundError, PermissionDeniedError) as error:
        log.warning("review_not_answered", number=number, reason=error.reason)
        refused.append(str(error))
