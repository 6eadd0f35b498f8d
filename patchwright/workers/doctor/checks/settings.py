"""Check that the settings are complete and prudent."""

from patchwright.core.settings.checks import service_errors
from patchwright.resolver.messages.facts import counted
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.finding import Finding, combine, failed, ok
from patchwright.workers.doctor.prudence import imprudent


def check(context: Case) -> Finding:
    errors = service_errors(context.settings)
    if errors:
        words = f"{counted(len(errors), 'fault')} that `serve` refuses to start with"
        return failed(words, "\n".join(errors))
    return combine((ok("complete"), *imprudent(context.settings)))
