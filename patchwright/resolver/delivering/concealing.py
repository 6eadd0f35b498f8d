"""Keep private words out of what is written where everybody reads."""

from collections.abc import Callable, Iterator

from patchwright.core.types.threads import TalkThread
from patchwright.core.types.work import Evidence, LeftOut, Outcome, TestResults
from patchwright.resolver.delivering.destination import Destination, PrivateContent
from patchwright.resolver.placing.privacy import (
    PrivateMatter,
    Span,
    find_in_name,
    find_quotations,
    collect_private_matter,
    redact_title,
    redact_text,
)


def text_redactor(hidden: PrivateContent | None) -> Callable[[str], str]:
    """Return what takes private words out of a text."""
    if hidden is None:
        return lambda text: text
    private = _private_matter_of(hidden)
    return lambda text: redact_text(text, private)


def title_redactor(hidden: PrivateContent | None) -> Callable[[str], str]:
    """Return what takes private words out of a title, where fewer are a quotation."""
    if hidden is None:
        return lambda text: text
    private = _private_matter_of(hidden)
    return lambda text: redact_title(text, private)


def file_name_finder(hidden: PrivateContent) -> Callable[[str], Iterator[Span]]:
    """Return what finds private words in the name of a file."""
    private = _private_matter_of(hidden)
    return lambda text: find_in_name(text, private)


def quotation_finder(hidden: PrivateContent) -> Callable[[str], Iterator[Span]]:
    """Return what finds quotations, addresses and links of a private place."""
    private = _private_matter_of(hidden)
    return lambda text: find_quotations(text, private)


def _private_matter_of(hidden: PrivateContent) -> PrivateMatter:
    return collect_private_matter(hidden.texts, hidden.names, hidden.hosts, hidden.public_url)


def redact_for_public(outcome: Outcome, hidden: PrivateContent | None) -> Outcome:
    """Return the outcome as it may be shown beside the code."""
    if hidden is None:
        return outcome
    title = title_redactor(hidden)(outcome.title)
    return _redacted(outcome, title, text_redactor(hidden))


def redact_for_thread(outcome: Outcome, to: Destination) -> Outcome:
    """Return the outcome as it may be shown in the thread of the request."""
    is_private = isinstance(to.thread, TalkThread)
    return outcome if is_private else redact_for_public(outcome, to.hidden)


def _redacted(outcome: Outcome, title: str, shown: Callable[[str], str]) -> Outcome:
    def told(one: Evidence) -> Evidence:
        results = one.results
        if results is not None:
            names = {
                "failing": tuple(map(shown, results.failing)),
                "passing": tuple(map(shown, results.passing)),
            }
            results = TestResults(**(results.model_dump() | names))
        texts = {"command": shown(one.command), "tail": shown(one.tail)}
        return Evidence(**(one.model_dump() | texts | {"results": results}))

    return outcome.replace(
        title=title,
        summary=shown(outcome.summary),
        service_text=shown(outcome.service_text),
        notes=tuple(map(shown, outcome.notes)),
        warnings=tuple(map(shown, outcome.warnings)),
        evidence=tuple(map(told, outcome.evidence)),
        left_out=tuple(
            LeftOut(path=shown(one.path), reason=one.reason) for one in outcome.left_out
        ),
        reviews=tuple(
            one.replace(text=shown(one.text), service_text=shown(one.service_text))
            for one in outcome.reviews
        ),
    )
