"""Answer the reviewers of a pull request, thread by thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import structlog

from patchwright.core.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.core.types.work import Outcome, ReviewAnswer, ReviewVerdict
from patchwright.resolver.delivering.destination import Destination, PublisherDependencies
from patchwright.resolver.effects import AnswerReviews
from patchwright.resolver.messages.reviews import (
    commit_link,
    review_mark,
    review_reply,
)
from patchwright.resolver.messages.status import DeliveryResult

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
    pull = ForgeThread(repo=repo, kind=ThreadKind.PULL_REQUEST, number=effect.number)
    sha = (so_far.head_sha or outcome.head_sha) if so_far.branch else ""
    commit = commit_link(to.repository.web_url, sha) if sha else ""
    failed = False
    for answer in _last_answers(outcome.reviews, len(to.review_threads)):
        done = _answer_thread(answer, pull, commit, to, dependencies)
        failed = failed or not done
    if commit:
        _request_review_again(effect.number, to, dependencies)
    remarks = (*so_far.remarks, _REMARK) if failed else so_far.remarks
    return so_far.replace(remarks=remarks)


def _last_answers(answers: tuple[ReviewAnswer, ...], threads: int) -> list[ReviewAnswer]:
    """Return the last answer for each thread that there is."""
    by_thread = {answer.thread: answer for answer in answers}
    return [by_thread[one] for one in sorted(by_thread) if 1 <= one <= threads]


def _answer_thread(
    answer: ReviewAnswer,
    pull: ForgeThread,
    commit: str,
    to: Destination,
    dependencies: PublisherDependencies,
) -> bool:
    said, thread = dependencies.reviews, to.review_threads[answer.thread - 1]
    run_id = to.frame.run_id
    mark = review_mark(run_id, answer.thread)
    with _collecting_refusals(answer.thread) as refused:
        if said.find_review_answer(pull, thread, mark) is None:
            reply = review_reply(
                answer, run_id=run_id, commit=commit, handle=to.frame.handle
            )
            said.answer_review(pull, thread, reply)
        if commit and answer.verdict is ReviewVerdict.ADDRESSED:
            said.resolve_review(pull, thread)
    return not refused


def _request_review_again(number: int, to: Destination, dependencies: PublisherDependencies) -> None:
    """Call back those who had asked for changes: there is something new to see."""
    repo = to.repository.ref
    with _collecting_refusals(number):
        change_requesters = dependencies.forge.fetch_change_requesters(repo, number)
        if change_requesters:
            dependencies.forge.request_review(repo, number, change_requesters)


@contextmanager
def _collecting_refusals(number: int) -> Iterator[list[str]]:
    """Go on where the service says no; what it said is in the list then."""
    refused: list[str] = []
    try:
        yield refused
    except (InvalidRequestError, NotFoundError, PermissionDeniedError) as error:
        log.warning("review_not_answered", number=number, reason=error.reason)
        refused.append(str(error))
