"""Check who we are in Jira."""

from contextlib import closing

from patchwright.core.errors import AuthenticationError
from patchwright.integrations.jira.adapter import connect_jira
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.errors import result_of_error
from patchwright.workers.doctor.finding import CheckResult, ok, skipped

_FIX_JIRA_TOKEN = "set jira.token to a valid one, and jira.user to whom it belongs (Cloud alone)"


def check_jira(context: CheckContext) -> CheckResult:
    settings = context.settings.jira
    if not settings.is_configured:
        return skipped("Jira is not configured")
    with closing(connect_jira(settings, context.clock)) as jira:
        try:
            own = jira.fetch_identity()
        except AuthenticationError as error:
            return result_of_error(error, _FIX_JIRA_TOKEN)
    return ok(f"{own.login} at {settings.host}")
