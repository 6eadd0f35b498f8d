"""Check that Slack gives out connections of Socket Mode."""

from patchwright.core.errors import AuthenticationError, PermissionDeniedError
from patchwright.integrations.slack.adapter import connect
from patchwright.integrations.slack.standing import try_connection
from patchwright.integrations.slack.tokens import StaticBotToken
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.errors import result_of_error
from patchwright.workers.doctor.finding import CheckResult, ok, skipped

_FIX_APP_TOKEN = (
    "make an app-level token with the scope connections:write (Basic Information), "
    "enable Socket Mode, and set slack.app_token"
)


def check_slack_socket(context: CheckContext) -> CheckResult:
    settings = context.settings.slack
    if settings.app_token is None:
        return skipped("slack.app_token is not set: deliveries come by HTTP")
    tokens = StaticBotToken(settings.app_token)
    api = connect(settings.api_url, tokens=tokens, clock=context.clock).api
    try:
        try_connection(api, settings.app_token)
    except (AuthenticationError, PermissionDeniedError) as error:
        return result_of_error(error, _FIX_APP_TOKEN)
    return ok("Slack lets us connect")
