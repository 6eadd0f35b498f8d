"""Check who we are in Jira."""

from contextlib import closing

from patchwright.core.errors import AuthenticationError
from patchwright.integrations.jira.adapter import connect_jira
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.errors import explained
from patchwright.workers.doctor.finding import Finding, ok, skipped

_FIX = "set jira.token to a valid one, and jira.user to whom it belongs (Cloud alone)"


def check(context: Case) -> Finding:
    settings = context.settings.jira
    if not settings.is_configured:
        return skipped("Jira is not configured")
    with closing(connect_jira(settings, context.clock)) as jira:
        try:
            own = jira.fetch_identity()
        except AuthenticationError as error:
            return explained(error, _FIX)
    return ok(f"{own.login} at {settings.host}")
