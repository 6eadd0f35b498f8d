"""Check Slack: who we are there, the scopes, and Socket Mode."""

from collections.abc import Iterator

from patchwright.core.doctor import (
    CheckContext,
    CheckResult,
    combine,
    failed,
    ok,
    result_of_error,
    skipped,
    warning,
)
from patchwright.core.text.strings import count_noun
from patchwright.core.types.errors import AuthenticationError, PermissionDeniedError
from patchwright.integrations.slack.adapter import (
    AppStatus,
    connect,
    fetch_app_status,
    missing_scopes,
    try_connection,
)
from patchwright.integrations.slack.client import SlackClient
from patchwright.integrations.slack.settings import SlackSettings
from patchwright.integrations.slack.tokens import SlackInstallationStore, StaticBotToken

_FIX_BOT_ACCESS = (
    "install the app in the workspace again, and set slack.bot_token to its new token"
)
_FIX_SCOPES = "add them from slack.yml (OAuth & Permissions), and install the app again"


def check_slack(context: CheckContext) -> CheckResult:
    settings = SlackSettings.of(context.settings)
    if not settings.is_configured:
        return skipped("Slack is not configured")
    if settings.bot_token is None:
        return _check_installations(context)
    tokens = StaticBotToken(settings.bot_token)
    api = connect(settings.api_url, tokens=tokens, clock=context.clock).api
    return combine(_check_workspace(api, ""))


def _check_installations(context: CheckContext) -> CheckResult:
    """Look at every workspace that has installed the app."""
    with context.open_secrets() as secrets:
        if secrets is None:
            return skipped("no workspace has installed the app")
        tokens = SlackInstallationStore(secrets)
        url = SlackSettings.of(context.settings).api_url
        api = connect(url, tokens=tokens, clock=context.clock).api
        found = [one for team in tokens.ids() for one in _check_workspace(api, team)]
    if not found:
        return warning(
            "no workspace has installed the app", _fix_not_installed(context)
        )
    return combine((ok(count_noun(len(found), "workspace")), *found))


def _fix_not_installed(context: CheckContext) -> str:
    page = f"{context.public_url}/auth/slack/install"
    if SlackSettings.of(context.settings).workspaces:
        return f"install it: {page}"
    return f"set slack.workspaces to the workspaces, then install the app: {page}"


def _check_workspace(api: SlackClient, team: str) -> Iterator[CheckResult]:
    try:
        yield judge_scopes(fetch_app_status(api, team))
    except AuthenticationError as error:
        yield result_of_error(error, _FIX_BOT_ACCESS)


def judge_scopes(standing: AppStatus) -> CheckResult:
    missing = missing_scopes(standing)
    if missing:
        return failed(f"{standing.team}: no {', '.join(missing)}", _FIX_SCOPES)
    scopes_text = "" if standing.scopes is None else ", with all scopes"
    return ok(f"{standing.user} in {standing.team}{scopes_text}")


_FIX_APP_ACCESS = (
    "make an app-level token with the scope connections:write (Basic Information), "
    "enable Socket Mode, and set slack.app_token"
)


def check_socket(context: CheckContext) -> CheckResult:
    settings = SlackSettings.of(context.settings)
    if settings.app_token is None:
        return skipped("slack.app_token is not set: webhooks come by HTTP")
    tokens = StaticBotToken(settings.app_token)
    api = connect(settings.api_url, tokens=tokens, clock=context.clock).api
    try:
        try_connection(api, settings.app_token)
    except (AuthenticationError, PermissionDeniedError) as error:
        return result_of_error(error, _FIX_APP_ACCESS)
    return ok("Slack accepts the connection")
