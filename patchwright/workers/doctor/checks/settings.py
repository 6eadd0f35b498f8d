"""Check that the settings are complete and prudent."""

from patchwright.core.settings.checks import service_errors
from patchwright.resolver.messages.facts import count_noun
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.finding import CheckResult, combine, failed, ok
from patchwright.workers.doctor.prudence import settings_warnings


def check_settings(context: CheckContext) -> CheckResult:
    errors = service_errors(context.settings)
    if errors:
        words = f"{count_noun(len(errors), 'fault')} that `serve` refuses to start with"
        return failed(words, "\n".join(errors))
    return combine((ok("complete"), *settings_warnings(context.settings)))
