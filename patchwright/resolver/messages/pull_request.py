"""What a pull request says, and the answers to its reviewers."""

from collections.abc import Sequence
from typing import Final, assert_never

from patchwright.core.forge import PullRequestText
from patchwright.core.settings.repository import CONFIG_FILE
from patchwright.core.text.branch_names import render_template, variables_of
from patchwright.core.text.escape import make_inert_line, without_mentions_except
from patchwright.core.text.mentions import neutralise
from patchwright.core.text.strings import count_noun, truncate_middle
from patchwright.core.types.base import Value
from patchwright.core.types.evidence import Proof
from patchwright.core.types.work import Outcome, ReviewAnswer, ReviewVerdict
from patchwright.resolver.messages.body_parts import (
    BodyPart,
    BodyState,
    PartMarks,
)
from patchwright.resolver.messages.elements import (
    blocked_lines,
    cost_text,
    duration_text,
    join,
    outcome_text,
    quote_agent_line,
    review_answer_text,
)
from patchwright.resolver.messages.proof_markdown import (
    CodeLinks,
    evidence_note,
    proof_report,
)
from patchwright.resolver.messages.proof_words import (
    advice_on_proof,
    level_markdown,
    level_words,
)
from patchwright.resolver.messages.pull_request_body import (
    Slot,
    fill_body,
    fill_template,
    is_shown,
)

MAX_WORDS_CHARS: Final = 4_000

_NO_COMMIT: Final = "**No commit was made for this.**"


def review_mark(run_id: str, thread: int) -> str:
    """Return what tells a run's answer to a thread from every other post."""
    return f"<!-- patchwright:review run={run_id} thread={thread} -->"


def review_reply(answer: ReviewAnswer, *, run_id: str, commit: str, handle: str) -> str:
    """Write an answer to a thread; `commit` is Markdown, empty if nothing is pushed."""
    words = review_answer_text(answer, handle, MAX_WORDS_CHARS)
    label = _label(answer.verdict, commit)
    return join(label, words, review_mark(run_id, answer.thread))


def unanswered_note(answers: Sequence[ReviewAnswer], threads: int) -> str:
    """Name the threads that got no answer; empty where each has one."""
    answered = {answer.thread for answer in answers}
    silent = [one for one in range(1, threads + 1) if one not in answered]
    if not silent:
        return ""
    have = "has" if len(silent) == 1 else "have"
    return (
        f"{count_noun(len(silent), 'review thread')} {have} no answer from the agent."
    )


def answer_requesting_threads(outcome: Outcome, asked: Sequence[int]) -> Outcome:
    """Answer each thread that asked with the run's own words, if the agent has not.

    The text says whether the request was fulfilled: nothing here can tell.
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


# GitHub refuses bodies over 65,536 characters, and titles over 256.
# https://github.com/dead-claudia/github-limits
MAX_BODY_CHARS: Final = 60_000
MAX_SUMMARY_CHARS: Final = 30_000
MAX_TITLE_CHARS: Final = 256
MAX_TEMPLATE_CHARS: Final = 15_000
_MAX_REMARKS_CHARS: Final = 8_000
_MAX_REMARK_CHARS: Final = 2_000


class RequestOrigin(Value):
    """Something that a change answers besides an issue of its repository."""

    name: str
    url: str


class Provenance(Value):
    """Where a change comes from: who asked, where, with which model, in which run.

    `key` is the ticket's, to stand in the title, and `origins` are the tickets and
    threads that the reader may know of.

    `code_url` is the address of the repository's pages, for links to commits and lines.
    `title` is the repository's template for titles and `names` what its variables
    stand for; `body` is its template for what we write, `template` the one that people
    fill in, which counts without it. `run_url` shows the run. `links` are how addresses
    begin that may be links in the agent's words.
    """

    run_id: str
    requester: str
    issue: int | None
    model: str
    handle: str
    title: str = ""
    body: str = ""
    names: dict[str, str] = {}
    template: str = ""
    run_url: str = ""
    code_url: str = ""
    config_file: str = CONFIG_FILE
    checks_need_nudge: bool = False
    key: str = ""
    origins: tuple[RequestOrigin, ...] = ()
    links: tuple[str, ...] = ()


def pull_request_text(
    outcome: Outcome,
    origin: Provenance,
    *,
    draft: bool,
    max_chars: int = MAX_BODY_CHARS,
    state: BodyState | None = None,
) -> PullRequestText:
    """Make title and body: how it was proven first, then what the agent says of it.

    Where there is too much of it, the agent's words are cut. With a `state` its parts
    are marked, so that they can be replaced when that is another one.
    """
    marks = PartMarks(state, origin.run_id)
    rest = len(_body(outcome, origin, marks, ""))
    room = min(MAX_SUMMARY_CHARS, max_chars - rest - len("\n\n"))
    times = variables_of(origin.body).count("summary") or 1
    room = max(room, 0) // times
    summary = _summary(outcome, origin, room)
    return PullRequestText(
        title=_title(outcome, origin),
        body=truncate_middle(_body(outcome, origin, marks, summary), max_chars),
        draft=draft,
    )


def _summary(outcome: Outcome, origin: Provenance, room: int) -> str:
    """Call nobody in code either: of this text a squash makes a commit's message."""
    for most in (room, room // 2):
        text = outcome_text(outcome, origin.handle, most, origin.links)
        quiet = without_mentions_except(text, outcome.by)
        if len(quiet) <= room:
            return quiet
    return ""


def _title(outcome: Outcome, origin: Provenance) -> str:
    names = {**origin.names, "title": outcome.title}
    made = render_template(origin.title, names) if origin.title else ""
    plain = made or _with_key(outcome.title, origin.key)
    title = neutralise(make_inert_line(plain), origin.handle)
    if len(title) <= MAX_TITLE_CHARS:
        return title
    return f"{title[: MAX_TITLE_CHARS - 1]}…"


def _with_key(title: str, key: str) -> str:
    """Begin the title with the ticket's key: Jira finds the pull request by it.

    https://support.atlassian.com/jira-software-cloud/docs/reference-issues-in-your-development-work
    """
    return f"{key}: {title}" if key and key not in title else title


def _body(outcome: Outcome, origin: Provenance, marks: PartMarks, summary: str) -> str:
    make = _custom_body if origin.body else _default_body
    remarks = join(
        _section("Look at this first", _remarks(outcome.warnings, origin.handle)),
        _section("Remarks", _remarks(outcome.notes, origin.handle)),
        _section("Blocked network requests", blocked_lines(outcome.blocked)),
    )
    parts = [
        *make(outcome, origin, marks, marks.words(summary)),
        marks.part(BodyPart.REMARKS, remarks),
        "" if origin.body else marks.part(BodyPart.SIZE, _changes(outcome)),
        _CHECKS_NEED_NUDGE if origin.checks_need_nudge else "",
        marks.part(BodyPart.FOOTER, _footer(outcome, origin)),
    ]
    return join(*parts)


def _default_body(
    outcome: Outcome, origin: Provenance, marks: PartMarks, summary: str
) -> list[str]:
    slots = {
        Slot.SUMMARY: summary,
        Slot.ISSUE: _answered_issues(origin),
        Slot.EVIDENCE: _evidence(outcome, origin, marks),
    }
    filled = fill_template(_template(origin), slots)
    left = {slot: text for slot, text in slots.items() if slot not in filled.used}
    return [
        marks.verdict(_verdict(outcome, origin)),
        left.get(Slot.SUMMARY, ""),
        left.get(Slot.ISSUE, ""),
        filled.text,
        marks.part(BodyPart.EVIDENCE, _section("Evidence", _table(outcome, origin)))
        if Slot.EVIDENCE in left
        else "",
    ]


def _custom_body(
    outcome: Outcome, origin: Provenance, marks: PartMarks, summary: str
) -> list[str]:
    """Fill in the repository's own text; the evidence is shown whatever that says."""
    evidence = _evidence(outcome, origin, marks)
    said = {**origin.names, "title": outcome.title, "requester": origin.requester}
    lines = {
        name: without_mentions_except(
            quote_agent_line(text, origin.handle, MAX_TITLE_CHARS)
        )
        for name, text in said.items()
    }
    values = {
        **lines,
        "summary": summary,
        "evidence": evidence,
        "closes": _answered_issues(origin),
        "changes": marks.part(BodyPart.SIZE, _changes(outcome)),
    }
    template = neutralise(origin.body[:MAX_TEMPLATE_CHARS], origin.handle)
    text = fill_body(template, values)
    return [text, "" if is_shown(text, evidence) else _section("Evidence", evidence)]


def _answered_issues(origin: Provenance) -> str:
    closes = [f"Closes #{origin.issue}"] if origin.issue is not None else []
    asked = [f"For [{one.name}]({one.url})" for one in origin.origins]
    return "\n".join([*closes, *asked])


# https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/trigger-a-workflow#triggering-a-workflow-from-a-workflow
_CHECKS_NEED_NUDGE = (
    "> [!NOTE]\n> The checks have not started: GitHub starts none after a push with a "
    "workflow's token. Close and reopen this pull request to start them."
)


def _template(origin: Provenance) -> str:
    return neutralise(origin.template[:MAX_TEMPLATE_CHARS], origin.handle)


def _evidence(outcome: Outcome, origin: Provenance, marks: PartMarks) -> str:
    table = marks.part(BodyPart.EVIDENCE, _table(outcome, origin))
    return join(marks.verdict(_verdict(outcome, origin)), table)


def _verdict(outcome: Outcome, origin: Provenance) -> str:
    """Say how it was proven, with a sign that no words of others can have."""
    level, report = outcome.proof, outcome.proof_report
    advice = advice_on_proof(level, report, origin.config_file)
    return " ".join(part for part in (level_markdown(level, report), advice) if part)


def _table(outcome: Outcome, origin: Provenance) -> str:
    """Show what was run. It calls nobody: a squash makes a commit's message of it."""
    links = CodeLinks(origin.code_url)
    report = outcome.proof_report
    shown = without_mentions_except(proof_report(report, outcome.evidence, links))
    return join(shown, evidence_note(report, links)) if shown else ""


def _remarks(remarks: tuple[str, ...], handle: str) -> str:
    lines = (f"- {quote_agent_line(one, handle, _MAX_REMARK_CHARS)}" for one in remarks)
    return truncate_middle(
        without_mentions_except("\n".join(lines)), _MAX_REMARKS_CHARS
    )


def _changes(outcome: Outcome) -> str:
    changed = outcome.proposed if outcome.proposed.files else outcome.changed
    if not changed.files:
        return ""
    return (
        f"**{count_noun(changed.files, 'file')}** changed: "
        f"{count_noun(changed.insertions, 'line')} added, {changed.deletions} removed."
    )


def _section(title: str, text: str) -> str:
    return f"### {title}\n\n{text}" if text else ""


def _footer(outcome: Outcome, origin: Provenance) -> str:
    run = f"run {origin.run_id[:8]}"
    worked = outcome.iterations > 0
    facts = [
        f"[{run}]({origin.run_url})" if origin.run_url else run,
        f"requested by @{origin.requester}",
        *([f"model {origin.model}"] if worked else []),
        *([count_noun(outcome.iterations, "step")] if worked else []),
        duration_text(outcome.seconds),
        *([cost_text(outcome.usage)] if worked else []),
    ]
    if outcome.proof is not Proof.PROVEN:
        facts.append(level_words(outcome.proof))
    return f"<sub>{' · '.join(facts)}</sub>"
