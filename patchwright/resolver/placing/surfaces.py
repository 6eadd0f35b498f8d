"""Decide what the threads of one conversation may show of each other."""

from patchwright.core.types.threads import ThreadRef
from patchwright.resolver.placing.consent import Consent


def may_show_words(
    source: ThreadRef,
    mirror: ThreadRef,
    *,
    source_is_private: bool,
    mirror_is_public: bool,
    consent: Consent | None,
) -> bool:
    """Tell whether words of one thread may be repeated in another.

    Private words reach a public place by consent alone. The agent's words count as
    those of the thread that it answers: it may quote what it has read there.
    """
    if source == mirror or not source_is_private or not mirror_is_public:
        return True
    return consent is Consent.SHARE
