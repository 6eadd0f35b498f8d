"""Keep private words out of what is written where everybody reads."""

from collections.abc import Callable, Iterator

from patchwright.core.types.threads import TalkThread
from patchwright.core.types.work import Evidence, LeftOut, Outcome, TestResults
from patchwright.resolver.delivering.destination import Destination, Hidden
from patchwright.resolver.placing.privacy import (
    Private,
    Span,
    find_in_name,
    find_quotations,
    private_matter,
    title_without_private,
    without_private,
)


def concealing(hidden: Hidden | None) -> Callable[[str], str]:
    """Return what takes private words out of a text."""
    if hidden is None:
        return lambda text: text
    private = _private(hidden)
    return lambda text: without_private(text, private)


def concealing_title(hidden: Hidden | None) -> Callable[[str], str]:
    """Return what takes private words out of a title, where fewer are a quotation."""
    if hidden is None:
        return lambda text: text
    private = _private(hidden)
    return lambda text: title_without_private(text, private)


def finding_in_names(hidden: Hidden) -> Callable[[str], Iterator[Span]]:
    """Return what finds private words in the name of a file."""
    private = _private(hidden)
    return lambda text: find_in_name(text, private)


def finding(hidden: Hidden) -> Callable[[str], Iterator[Span]]:
    """Return what finds quotations, addresses and links of a private place."""
    private = _private(hidden)
    return lambda text: find_quotations(text, private)


def _private(hidden: Hidden) -> Private:
    return private_matter(hidden.texts, hidden.names, hidden.hosts, hidden.public_url)


def for_the_public(outcome: Outcome, hidden: Hidden | None) -> Outcome:
    """Return the outcome as it may be shown beside the code."""
    if hidden is None:
        return outcome
    title = concealing_title(hidden)(outcome.title)
    return _without(outcome, title, concealing(hidden))


def for_the_thread(outcome: Outcome, to: Destination) -> Outcome:
    """Return the outcome as it may be shown in the thread of the request."""
    is_private = isinstance(to.thread, TalkThread)
    return outcome if is_private else for_the_public(outcome, to.hidden)


def _without(outcome: Outcome, title: str, shown: Callable[[str], str]) -> Outcome:
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
