"""Where one run's result goes, and what must not be shown there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from patchwright.core.channel import ChannelRouter, Offer
from patchwright.core.forge import Forge, Reviews
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.system.clock import Clock, SystemClock
from patchwright.core.text.escape import mention_link
from patchwright.core.types.base import Value
from patchwright.core.types.evidence import Evidence, ProofReport, TestResults
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeThread,
    Repository,
    ThreadRef,
)
from patchwright.core.types.work import LeftOut, Outcome
from patchwright.integrations.git.mirror import Mirror
from patchwright.resolver.messages.pull_request import Provenance
from patchwright.resolver.messages.result import NO_PROGRESS
from patchwright.resolver.messages.status import MessageHeader, Progress
from patchwright.resolver.proof.evidence import ProofResult
from patchwright.resolver.publish.redaction import (
    PrivateMatter,
    Span,
    collect_private_matter,
    find_in_name,
    find_quotations,
    redact_text,
    redact_title,
)

SYSTEM_CLOCK: Final = SystemClock()


class CrossPostTarget(Value):
    """Our short message in another thread of the conversation.

    `shows_words` says that what was said elsewhere may be repeated there. `handle` is
    what calls us there.
    """

    thread: ThreadRef
    post: str = ""
    shows_words: bool = False
    handle: str = ""


class PrivateContent(Value):
    """What was said in private: texts, names of people and tickets, hosts of services.

    What is below `public_url` everybody may link to.
    """

    texts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    public_url: str = ""


class Invitation(Value):
    text: str
    offers: tuple[Offer, ...] = ()


def no_invitation(_actor: Actor) -> Invitation | None:
    """Return no invitation: where only the forge's own people ask, none is needed."""
    return None


@dataclass(frozen=True)
class Destination:
    """Where one run's result goes.

    `status_post` is the run's own comment, empty when it has none. `review_threads`
    are the service's names of the review threads, in the order the task counts them.
    `others` took part in the request besides the requester. `last` is how far the run
    was when it ended. `requester` is who asked as the forge knows them, and `asked_by`
    as the thread's own service does. `hidden` is what no public place may repeat.
    `renamed_from` is what the default branch was called when the run began, where it
    has another name now.
    """

    repository: Repository
    thread: ThreadRef
    requester: Actor
    status_post: str
    origin: Provenance
    frame: MessageHeader
    config: RepositoryConfig = field(default_factory=RepositoryConfig)
    review_threads: tuple[str, ...] = ()
    others: tuple[Actor, ...] = ()
    last: Progress = NO_PROGRESS
    asked_by: Actor | None = None
    mirrors: tuple[CrossPostTarget, ...] = ()
    hidden: PrivateContent | None = None
    renamed_from: str = ""

    @property
    def caller(self) -> str:
        """What calls the requester in the thread."""
        if self.asked_by is None or isinstance(self.thread, ForgeThread):
            return f"@{self.requester.login}"
        return mention_link(self.asked_by.login, self.asked_by.external_id)


# Runs the change of an outcome, given the new base and the commit on top of it.
ProveAgain = Callable[[Outcome, Mirror, str, str], ProofResult | str]


def prove_nothing(
    _outcome: Outcome, _mirror: Mirror, _base_sha: str, _head_sha: str
) -> str:
    """Prove nothing again, where there is no sandbox to do it in."""
    return "there was no sandbox for it"


@dataclass(frozen=True)
class PublisherDependencies:
    """What it is delivered with; `fetch_mirror` brings the commits.

    With `forge_signs` the forge makes the commits that it can make exactly. `invite`
    makes the invitation for a person who must link, `renew` for one who must link
    again; None if that is impossible. `prove_again` runs a change on another base, and
    says why not where it does not.
    """

    forge: Forge
    channel: ChannelRouter
    reviews: Reviews | None
    fetch_mirror: Callable[[], Mirror]
    forge_signs: bool = False
    clock: Clock = SYSTEM_CLOCK
    invite: Callable[[Actor], Invitation | None] = no_invitation
    renew: Callable[[Actor], Invitation | None] = no_invitation
    prove_again: ProveAgain = prove_nothing


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
    return collect_private_matter(
        hidden.texts, hidden.names, hidden.hosts, hidden.public_url
    )


def redact_for_public(outcome: Outcome, hidden: PrivateContent | None) -> Outcome:
    """Return the outcome as it may be shown beside the code."""
    if hidden is None:
        return outcome
    title = title_redactor(hidden)(outcome.title)
    return _redacted(outcome, title, text_redactor(hidden))


def redact_for_thread(outcome: Outcome, to: Destination) -> Outcome:
    """Return the outcome as it may be shown in the thread of the request."""
    is_private = to.thread.is_private
    return outcome if is_private else redact_for_public(outcome, to.hidden)


def _redacted(outcome: Outcome, title: str, shown: Callable[[str], str]) -> Outcome:
    def told(one: Evidence) -> Evidence:
        results = one.results
        if results is not None:
            names = {
                "failing": tuple(map(shown, results.failing)),
                "passing": tuple(map(shown, results.passing)),
                "skipping": tuple(map(shown, results.skipping)),
                "broken": tuple(map(shown, results.broken)),
                "causes": {
                    shown(name): shown(why) for name, why in results.causes.items()
                },
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
        proof_report=_redacted_report(outcome.proof_report, shown),
        left_out=tuple(
            LeftOut(path=shown(one.path), reason=one.reason) for one in outcome.left_out
        ),
        reviews=tuple(
            one.replace(text=shown(one.text), service_text=shown(one.service_text))
            for one in outcome.reviews
        ),
    )


def _redacted_report(
    report: ProofReport | None, shown: Callable[[str], str]
) -> ProofReport | None:
    if report is None:
        return None
    return report.replace(
        tests=tuple(
            one.replace(name=shown(one.name), cause=shown(one.cause))
            for one in report.tests
        ),
        newly_failing=tuple(map(shown, report.newly_failing)),
        altered=tuple(map(shown, report.altered)),
        flaky=tuple(map(shown, report.flaky)),
        uncovered=tuple(one.replace(path=shown(one.path)) for one in report.uncovered),
        suite_command=shown(report.suite_command),
    )
