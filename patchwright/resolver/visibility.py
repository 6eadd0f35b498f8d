"""Who may read a run's texts, and the question before private words are shown."""

import re
from enum import StrEnum
from typing import Final

from patchwright.core.channel import Offer, Offers
from patchwright.core.text.escape import inline_code
from patchwright.core.types.base import Value
from patchwright.core.types.threads import RepoRef, ThreadKind, ThreadRef
from patchwright.core.types.work import QuestionReason


class Question(Value):
    """A question as Markdown, and the answers to press where there are buttons."""

    reason: QuestionReason
    text: str
    offers: Offers = ()


class Consent(StrEnum):
    """Whether private words may be shown in a public repository."""

    SHARE = "share"
    KEEP_OUT = "keep-out"


class ConsentAnswer(Value):
    """With `always`, the answer is stored for the repository and channel or project."""

    consent: Consent
    always: bool = False


_COURTESY: Final = frozenset(
    {"please", "pls", "yes", "ok", "okay", "thanks", "thank", "you", "it", "this"}
    | {"that", "them", "all", "here", "always", "everything", "words", "just", "the"}
)
_SHARE: Final = frozenset({"share", "public"})
_KEEP: Final = frozenset({"private", "out", "secret"})
_KEPT_BY: Final = frozenset({"keep", "leave", "make", "stay"})


def read_consent(text: str) -> ConsentAnswer | None:
    """Return the consent in a reply, if the reply says nothing else.

    A reply that could mean both answers gives no consent.
    """
    words = frozenset(re.findall(r"[^\W_]+(?:'[^\W_]+)?", text.casefold()))
    left = words - _COURTESY
    always = "always" in words
    if left and left <= _SHARE and "share" in left:
        return ConsentAnswer(consent=Consent.SHARE, always=always)
    if left & _KEEP and left <= _KEEP | _KEPT_BY:
        return ConsentAnswer(consent=Consent.KEEP_OUT, always=always)
    return None


def needs_consent(
    thread: ThreadRef,
    repo: RepoRef,
    *,
    repository_is_private: bool,
    remembered: Consent | None,
) -> Question | None:
    """Return the question to ask before the work may show texts of that thread.

    `remembered` is the answer in this conversation, or else the stored answer.
    """
    if not thread.is_private or repository_is_private or remembered:
        return None
    here, place = _words_of(thread.kind)
    text = _QUESTION.format(repo=inline_code(repo.full_name), here=here, place=place)
    return Question(
        reason=QuestionReason.NO_CONSENT, text=text, offers=_consent_offers(place)
    )


def privacy_note() -> str:
    """Return the instructions for the agent if private words must be kept out."""
    return _NOTE


def _consent_offers(place: str) -> tuple[Offer, ...]:
    answers = {
        "Share": "share",
        "Keep it out": "keep it out",
        f"Always share in this {place}": "always share",
        f"Always keep out in this {place}": "always keep it out",
    }
    return tuple(
        Offer(words=words, command=command, is_in_text=True)
        for words, command in answers.items()
    )


def _words_of(kind: ThreadKind) -> tuple[str, str]:
    """Return what people call the thread, and the place that it is in."""
    if kind is ThreadKind.CHAT:
        return "thread", "channel"
    return ("ticket" if kind is ThreadKind.TICKET else kind.words), "project"


_QUESTION: Final = """\
**{repo} is public. May the pull request quote this private {here}?** Everybody can \
read a pull request there.

- `share`: it may quote this {here}, name its authors, and link to it.
- `keep it out`: it describes the change, without names, addresses or quotations from \
this {here} (eight words in a row, or three in a title or a file name). Single words \
and the subject of the change can still show.

Reply `share` or `keep it out`. With `always`, your answer is valid for all requests \
from this {place} to that repository. Nothing is shown there before you answer."""
_NOTE: Final = """\
The request comes from a private place, and the repository is public. Nothing that you \
write there may show where the request came from. In code, comments, tests, file \
names, the title, the summary and the message of the commit:

- do not quote from the request or the messages around it; say in your own words what \
was wrong with the code and what you changed;
- name no people, customers, channels or tickets, and give no addresses, links, or \
identifiers from there;
- make up the data for tests yourself."""


class RunVisibility(Value):
    """Whether the repository is public, and whether it may show private words."""

    is_public: bool = False
    consent: Consent | None = None

    @property
    def keeps_out(self) -> bool:
        return self.is_public and self.consent is not Consent.SHARE


def may_show_words(
    source: ThreadRef,
    mirror: ThreadRef,
    *,
    source_is_private: bool,
    mirror_is_public: bool,
    consent: Consent | None,
) -> bool:
    """Tell whether words of one thread may be repeated in another.

    Private words may be shown in public only with consent. The agent's words count as
    words of the thread that it answers, because it may quote that thread.
    """
    if source == mirror or not source_is_private or not mirror_is_public:
        return True
    return consent is Consent.SHARE
