"""Check that Slack gives out connections of Socket Mode."""

from patchwright.core.errors import AuthenticationError, PermissionDeniedError
from patchwright.integrations.slack.adapter import connect
from patchwright.integrations.slack.standing import try_connection
from patchwright.integrations.slack.tokens import GivenToken
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.errors import explained
from patchwright.workers.doctor.finding import Finding, ok, skipped

_FIX = (
    "make an app-level token with the scope connections:write (Basic Information), "
    "enable Socket Mode, and set slack.app_token"
)


def check(context: Case) -> Finding:
    settings = context.settings.slack
    if settings.app_token is None:
        return skipped("slack.app_token is not set: deliveries come by HTTP")
    tokens = GivenToken(settings.app_token)
    api = connect(settings.api_url, tokens=tokens, clock=context.clock).api
    try:
        try_connection(api, settings.app_token)
    except (AuthenticationError, PermissionDeniedError) as error:
        return explained(error, _FIX)
    return ok("Slack lets us connect")
