"""Check that the settings are complete and prudent."""

from patchwright.core.settings.checks import service_errors
from patchwright.core.settings.model import Settings
from patchwright.resolver.messages.facts import counted
from patchwright.workers.compose import NO_SHARED_KEY
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.finding import Finding, combine, failed, ok
from patchwright.workers.doctor.prudence import imprudent


def check(case: Case) -> Finding:
    errors = (*service_errors(case.settings), *_key_errors(case.settings))
    if errors:
        words = f"{counted(len(errors), 'fault')} that `serve` refuses to start with"
        return failed(words, "\n".join(errors))
    return combine((ok("complete"), *imprudent(case.settings)))


def _key_errors(settings: Settings) -> tuple[str, ...]:
    is_shared = not settings.database.url.get_secret_value().startswith("sqlite:")
    return (
        (NO_SHARED_KEY,) if is_shared and not settings.security.encryption_keys else ()
    )
