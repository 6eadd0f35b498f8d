"""What reviewers are told in their own threads."""

from collections.abc import Sequence
from typing import Final, assert_never

from patchwright.core.types.work import Outcome, ReviewAnswer, ReviewVerdict
from patchwright.resolver.messages.facts import review_answer_text, count_noun, join

MAX_WORDS_CHARS: Final = 4_000
_ABOUT_SHA_CHARS: Final = 10

_NO_COMMIT: Final = "**No commit was made for this.**"


def review_mark(run_id: str, thread: int) -> str:
    """Return what tells a run's answer to a thread from every other post."""
    return f"<!-- patchwright:review run={run_id} thread={thread} -->"


def review_reply(answer: ReviewAnswer, *, run_id: str, commit: str, handle: str) -> str:
    """Write an answer to a thread; `commit` is Markdown, empty if nothing is pushed."""
    words = review_answer_text(answer, handle, MAX_WORDS_CHARS)
    label = _label(answer.verdict, commit)
    return join(label, words, review_mark(run_id, answer.thread))


def commit_link(web_url: str, sha: str) -> str:
    return f"[`{sha[:_ABOUT_SHA_CHARS]}`]({web_url}/commit/{sha})"


def unanswered_note(answers: Sequence[ReviewAnswer], threads: int) -> str:
    """Name the threads that got no answer; empty where each has one."""
    answered = {answer.thread for answer in answers}
    silent = [one for one in range(1, threads + 1) if one not in answered]
    if not silent:
        return ""
    have = "has" if len(silent) == 1 else "have"
    return f"{count_noun(len(silent), 'review thread')} {have} no answer of the agent's."


def answer_requesting_threads(outcome: Outcome, asked: Sequence[int]) -> Outcome:
    """Answer each thread that asked with the run's own words, if the agent has not.

    Whether its wish was met, the words say: nothing here can tell.
    """
    answered = {answer.thread for answer in outcome.reviews}
    added = tuple(
        ReviewAnswer(
            thread=one,
            verdict=ReviewVerdict.ANSWERED,
            text=outcome.summary,
            service_text=outcome.service_text,
            by=outcome.by,
        )
        for one in asked
        if one not in answered
    )
    return outcome.replace(reviews=(*outcome.reviews, *added))


def _label(verdict: ReviewVerdict, commit: str) -> str:
    match verdict:
        case ReviewVerdict.ADDRESSED:
            return f"**Addressed in {commit}.**" if commit else _NO_COMMIT
        case ReviewVerdict.ANSWERED:
            return f"**See {commit}.**" if commit else ""
        case ReviewVerdict.NOT_ADDRESSED:
            return "**Not addressed.**"
        case ReviewVerdict.NEEDS_INPUT:
            return "**Needs input.**"
        case _:
            assert_never(verdict)
