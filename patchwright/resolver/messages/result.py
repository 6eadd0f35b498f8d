"""The status comment of a run that has ended or waits, and the call to look at it."""

from typing import Final

from patchwright.core.text.escape import code_block
from patchwright.core.text.mentions import neutralise
from patchwright.core.text.strings import count_noun, truncate_middle
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.work import (
    ASKED,
    NOT_DELIVERED,
    BlockedRequest,
    DiffStat,
    Outcome,
    ReviewAnswer,
    ReviewVerdict,
    WaitReason,
)
from patchwright.resolver.messages.advice import (
    next_step,
    refusal_words,
    refuses_everybody,
)
from patchwright.resolver.messages.elements import (
    blocked_lines,
    cost_text,
    details_block,
    duration_text,
    join,
    list_sentences,
    outcome_text,
)
from patchwright.resolver.messages.outcome_kinds import (
    answers_command,
    display_of,
    is_contradicted,
    is_paused,
    outcome_title,
)
from patchwright.resolver.messages.proof_markdown import (
    folded_proof_report,
    proof_line,
)
from patchwright.resolver.messages.proof_words import (
    level_markdown,
    short_reason,
)
from patchwright.resolver.messages.readers import for_reader
from patchwright.resolver.messages.status import (
    DeliveryResult,
    MessageHeader,
    Progress,
    approved_plan,
    checklist,
    footer,
    run_link,
    state_mark,
)

# GitHub refuses comments over 65,536 characters.
MAX_COMMENT_CHARS: Final = 60_000
_MAX_REFUSAL_CHARS: Final = 4_000
_MAX_ANSWER_CHARS: Final = 20_000
_MOST_OPEN_NOTES: Final = 3
NO_PROGRESS: Final = Progress()


def final_comment(
    outcome: Outcome,
    delivered: DeliveryResult,
    frame: MessageHeader,
    last: Progress = NO_PROGRESS,
) -> str:
    """Say how it ended: the outcome and the proof first, then the words and the facts.

    `last` is how far it was. However long the agent's words are, they alone are cut.
    What answers a command is no run, and shows nothing of one.
    """
    if answers_command(outcome):
        words = outcome_text(outcome, frame.handle, _MAX_ANSWER_CHARS, frame.links)
        return join(words, state_mark(outcome.kind, frame.run_id))
    outcome = for_reader(outcome, frame.reader)
    before = join(_result_head(outcome, delivered, frame, last), _proof(outcome, frame))
    after = _after_words(outcome, delivered, frame, last)
    room = MAX_COMMENT_CHARS - len(join(before, "-", after))
    # The first line says already who has paused it, if the forge knows them.
    shown = not (is_paused(outcome) and outcome.by)
    words = outcome_text(outcome, frame.handle, room, frame.links) if shown else ""
    return join(before, words, after)


def _after_words(
    outcome: Outcome, delivered: DeliveryResult, frame: MessageHeader, last: Progress
) -> str:
    return join(
        _work_so_far(outcome, last, frame),
        folded_proof_report(outcome.proof, outcome.proof_report, outcome.evidence)
        if frame.is_beside_code
        else "",
        _warnings(outcome.warnings, frame.handle),
        _reviews(outcome.reviews),
        _notes((*outcome.notes, *delivered.remarks), frame.handle),
        _blocked(outcome.blocked),
        _where_work_is(outcome, delivered, frame),
        _where_it_stopped(outcome, last, frame.handle),
        next_step(
            outcome,
            delivered,
            frame.handle,
            last.allowed(frame.limits),
            frame.config_file,
            reader=frame.reader,
        ),
        approved_plan(last, frame),
        footer(frame),
        state_mark("waiting" if outcome.waits else outcome.kind, frame.run_id),
    )


def headline(
    outcome: Outcome, delivered: DeliveryResult, *, is_beside_code: bool = True
) -> str:
    """Say in a few words how it ended, with the pull request if there is one.

    A change always has its level of proof beside it.
    """
    if outcome.reason == NOT_DELIVERED:
        return "**Not delivered**"
    if outcome.kind is OutcomeKind.FAILED and outcome.reason:
        return f"**{display_of(outcome.kind).title}** (`{outcome.reason}`)"
    words = f"**{outcome_title(outcome, is_draft=delivered.is_shown_as_draft)}**"
    if is_paused(outcome):
        return f"{words} by @{outcome.by}" if outcome.by else words
    if not outcome.proposes_change:
        return words
    if delivered.refusal:
        needs_click = _open_it_yourself(delivered)
        return f"{words} · {'needs a click' if needs_click else NOT_DELIVERED_TEXT}"
    if delivered.pull_request is None:
        return words
    has_said_so = outcome.proof is not Proof.PROVEN and not is_contradicted(outcome)
    draft = " (draft)" if delivered.draft and not has_said_so else ""
    number = delivered.pull_name
    if not is_beside_code:
        words_of_kind = delivered.pull_request_kind.words
        number = f"[{words_of_kind} {number}]({delivered.pull_request_url})"
    return f"{words} · {number}{draft}"


def headline_with_reason(
    outcome: Outcome, delivered: DeliveryResult, *, is_beside_code: bool = True
) -> str:
    """Say it where the level of proof does not stand right below, and why so."""
    head = headline(outcome, delivered, is_beside_code=is_beside_code)
    if not outcome.proposes_change:
        return head
    why = short_reason(outcome.proof, outcome.proof_report)
    return f"{head}: {why}" if why else head


# Said of a result that nobody can see where it belongs.
NOT_DELIVERED_TEXT: Final = "not delivered"


def _result_head(
    outcome: Outcome, delivered: DeliveryResult, frame: MessageHeader, last: Progress
) -> str:
    ran = outcome.iterations > 0
    facts = (
        headline(outcome, delivered, is_beside_code=frame.is_beside_code),
        count_noun(outcome.iterations, "step") if ran else "",
        duration_text(outcome.seconds) if ran else "",
        cost_text(outcome.usage, last.allowed(frame.limits)) if ran else "",
        _size(outcome.changed),
        run_link(frame, "run"),
    )
    return " · ".join(fact for fact in facts if fact)


def _size(changed: DiffStat) -> str:
    if not changed.files:
        return ""
    files = count_noun(changed.files, "file")
    return f"{files}, +{changed.insertions} -{changed.deletions}"


def _is_own_end(outcome: Outcome) -> bool:
    """Return whether the work was done, even if it was not published."""
    return outcome.proposes_change or outcome.reason == NOT_DELIVERED


def _proof(outcome: Outcome, frame: MessageHeader) -> str:
    """Say what is shown of the change; a chat or a ticket gets no table below it."""
    if not _is_own_end(outcome):
        return ""
    words = level_markdown(outcome.proof, outcome.proof_report)
    if frame.is_beside_code:
        return words
    ran = proof_line(outcome.proof_report, outcome.evidence)
    return f"{words} {ran}." if ran else words


def _warnings(warnings: tuple[str, ...], handle: str) -> str:
    """Put what a reviewer must see where it cannot be overlooked."""
    if not warnings:
        return ""
    title = "**Check this before you merge:**"
    lines = ["[!WARNING]", title, *list_sentences(warnings, handle)]
    return "\n".join(f"> {line}" for line in lines)


def _reviews(answers: tuple[ReviewAnswer, ...]) -> str:
    given = [answer.verdict for answer in answers]
    counts = [
        f"{given.count(verdict)} {words}"
        for verdict, words in _VERDICTS.items()
        if verdict in given
    ]
    return f"Review threads: {', '.join(counts)}." if counts else ""


_VERDICTS: Final = {
    ReviewVerdict.ADDRESSED: "addressed",
    ReviewVerdict.NOT_ADDRESSED: "not addressed",
    ReviewVerdict.NEEDS_INPUT: "waiting for an answer",
    ReviewVerdict.ANSWERED: "answered",
}


def _notes(notes: tuple[str, ...], handle: str) -> str:
    lines = "\n".join(list_sentences(notes, handle))
    if len(notes) <= _MOST_OPEN_NOTES:
        return lines
    return details_block(
        f"{len(notes)} notes about removed, skipped or doubtful parts", lines
    )


def _blocked(blocked: tuple[BlockedRequest, ...]) -> str:
    if not blocked:
        return ""
    hosts = count_noun(len(blocked), "host")
    return details_block(f"Blocked network requests: {hosts}", blocked_lines(blocked))


def _where_work_is(
    outcome: Outcome, delivered: DeliveryResult, frame: MessageHeader
) -> str:
    """Say where the work is when no pull request shows it."""
    if delivered.refusal:
        refused = _refusal_text(delivered.refusal, frame)
        where = _branch_line(outcome, delivered) or _kept_change_line(
            outcome, delivered, frame
        )
        return join(refused, where, _open_it_yourself(delivered), delivered.patch)
    if not outcome.head_sha or delivered.pull_request is not None:
        return ""
    left_alone = truncate_middle(delivered.left_alone, _MAX_REFUSAL_CHARS)
    reason = neutralise(left_alone, frame.handle)
    where = _branch_line(outcome, delivered) or _kept_change_line(
        outcome, delivered, frame
    )
    return join(reason, where, delivered.patch)


def _kept_change_line(
    outcome: Outcome, delivered: DeliveryResult, frame: MessageHeader
) -> str:
    """Say where the change is that neither a branch nor this message shows."""
    if not outcome.head_sha or delivered.patch or not frame.work_at:
        return ""
    return f"The change is stored. {frame.work_at}"


def _refusal_text(refusal: str, frame: MessageHeader) -> str:
    """Name the rule in plain words, and add the service's own text."""
    short = truncate_middle(refusal, _MAX_REFUSAL_CHARS)
    words = refusal_words(short, frame.config_file, frame.reader)
    text = f"The result could not be delivered: {neutralise(words, frame.handle)}"
    if words == short:
        return text
    return join(text, details_block("Answer of the service", code_block(short)))


def _work_so_far(outcome: Outcome, last: Progress, frame: MessageHeader) -> str:
    """Keep the checklist of a run that is paused."""
    return checklist(last, frame.handle) if is_paused(outcome) else ""


def _branch_line(outcome: Outcome, delivered: DeliveryResult) -> str:
    if not delivered.branch:
        return ""
    where = f"[`{delivered.branch}`]({delivered.branch_url})"
    return (
        f"The change is on {where}."
        if outcome.proposes_change
        else f"The work so far is on {where}."
    )


def _open_it_yourself(delivered: DeliveryResult) -> str:
    """Offer what we were not allowed to do."""
    if not delivered.compare_url or refuses_everybody(delivered.refusal):
        return ""
    return f"[Open the pull request]({delivered.compare_url}) yourself, in one click."


def _where_it_stopped(outcome: Outcome, last: Progress, handle: str) -> str:
    """Say how far it came, for somebody who would rather not read a log."""
    was_cut_short = display_of(outcome.kind).was_cut_short
    if _is_own_end(outcome) or not was_cut_short or not last.doing:
        return ""
    stopped = f"It stopped at: {last.doing}."
    before = checklist(last.replace(doing=""), handle)
    return join(stopped, details_block("What it had done", before) if before else "")


# A person who asked less than this ago still looks at the thread.
_STILL_LOOKING_S: Final = 30.0
# What a person has just asked for needs no calling them.
_ASKED_BY_PERSON: Final = frozenset({ASKED, WaitReason.PAUSED})


def wants_ping(
    outcome: Outcome, requester: Actor, *, is_edit: bool, since_asked_s: float
) -> bool:
    """Tell whether a comment of its own is due, as the end would else go unnoticed.

    `is_edit` says that the final message replaces a comment that is there already:
    GitHub notifies people of a new comment only.
    """
    if requester.is_bot or not is_edit:
        return False
    if outcome.kind is OutcomeKind.STOPPED or outcome.reason in _ASKED_BY_PERSON:
        return False
    return bool(outcome.head_sha) or outcome.waits or since_asked_s > _STILL_LOOKING_S


def ping_mark(outcome: Outcome, run_id: str) -> str:
    """Return what is in this one call, and in no other comment.

    A run that waits calls each time that it does, which is at another step.
    """
    where = f"{outcome.kind}@{outcome.iterations}"
    return f"<!-- patchwright:ping run={run_id} {where} -->"


def ping_text(
    outcome: Outcome, delivered: DeliveryResult, caller: str, frame: MessageHeader
) -> str:
    """Return the call; `caller` is what calls the requester in that thread."""
    beside = frame.is_beside_code
    head = headline_with_reason(outcome, delivered, is_beside_code=beside)
    facts = [head, _where_to_look(outcome, delivered)]
    line = " · ".join(fact for fact in (*facts, run_link(frame, "run")) if fact)
    return f"{caller} {line}\n\n{ping_mark(outcome, frame.run_id)}"


def _where_to_look(outcome: Outcome, delivered: DeliveryResult) -> str:
    if outcome.kind is OutcomeKind.PLAN_POSTED:
        return "please approve it or say what to change, in the comment above"
    if outcome.waits:
        return "please answer the question in the comment above"
    if outcome.kind is OutcomeKind.NEEDS_INPUT and not outcome.proposes_change:
        return "see above what is missing"
    if delivered.refusal:
        return "see above why"
    if delivered.pull_request is not None:
        return ""
    return "see above"
