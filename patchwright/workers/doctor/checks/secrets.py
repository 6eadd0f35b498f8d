"""Check that the encryption keys open what is stored."""

from collections.abc import Iterator, Sequence

from patchwright.resolver.messages.facts import count_noun
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.finding import (
    CheckResult,
    combine,
    failed,
    ok,
    skipped,
    warning,
)
from patchwright.workers.doctor.known_app import secret_store
from patchwright.workers.doctor.stored import open_current_database
from patchwright.workers.store.secrets import KeyUse

_FIX_LOST_KEY = (
    "put that key back into security.encryption_keys; if it is lost, its secrets are "
    "too: install the apps again, and let people link again"
)
_FIX_OLD_KEY = "patchwright keys rotate, and then take the old keys out"


def check_secrets(context: CheckContext) -> CheckResult:
    with open_current_database(context.settings) as database:
        if database is None:
            return skipped("nothing is stored yet in a database of this version")
        store = secret_store(context.settings, database, context.clock)
        if store is None:
            return skipped("no key yet; `serve` makes one")
        known = tuple(key.id for key in context.settings.security.encryption_keys)
        return judge_keys(store.survey(), known)


def judge_keys(uses: Sequence[KeyUse], known: Sequence[str]) -> CheckResult:
    """Judge what is stored by the ids of the keys that are set, the current first."""
    count = sum(use.stored for use in uses)
    if not count:
        return ok("nothing is stored")
    return combine((ok(f"{count_noun(count, 'secret')}, all open"), *_key_problems(uses, known)))


def _key_problems(uses: Sequence[KeyUse], known: Sequence[str]) -> Iterator[CheckResult]:
    for use in uses:
        if use.closed:
            words = f"{use.closed} of {count_noun(use.stored, 'secret')} do not open"
            yield failed(f"{words} with the key {use.key_id}", _FIX_LOST_KEY)
    old = [use for use in uses if known and use.key_id != known[0] and not use.closed]
    if old:
        names = ", ".join(use.key_id for use in old)
        words = count_noun(sum(use.stored for use in old), "secret")
        yield warning(f"{words} still under an old key ({names})", _FIX_OLD_KEY)
