"""Check who we are in Slack, and whether we have the scopes that are needed."""

from collections.abc import Iterator

from patchwright.core.errors import AuthenticationError
from patchwright.integrations.slack.adapter import connect
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.standing import (
    AppStatus,
    fetch_app_status,
    missing_scopes,
)
from patchwright.integrations.slack.tokens import StaticBotToken
from patchwright.resolver.messages.facts import count_noun
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.errors import result_of_error
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
from patchwright.workers.store.installations import SlackInstallationStore

_FIX_BOT_TOKEN = "install the app in the workspace again, and set slack.bot_token to its token"
_FIX_SCOPES = "take them over from slack.yml (OAuth & Permissions), and install it again"


def check_slack(context: CheckContext) -> CheckResult:
    settings = context.settings.slack
    if not settings.is_configured:
        return skipped("Slack is not configured")
    if settings.bot_token is None:
        return _check_installations(context)
    tokens = StaticBotToken(settings.bot_token)
    api = connect(settings.api_url, tokens=tokens, clock=context.clock).api
    return combine(_check_workspace(api, ""))


def _check_installations(context: CheckContext) -> CheckResult:
    """Look at every workspace that has installed the app."""
    with open_current_database(context.settings) as database:
        secrets = (
            secret_store(context.settings, database, context.clock) if database else None
        )
        if secrets is None:
            return skipped("no workspace has installed the app")
        tokens = SlackInstallationStore(secrets)
        url = context.settings.slack.api_url
        api = connect(url, tokens=tokens, clock=context.clock).api
        found = [one for team in tokens.ids() for one in _check_workspace(api, team)]
    if not found:
        return warning("no workspace has installed the app", _fix_not_installed(context))
    return combine((ok(count_noun(len(found), "workspace")), *found))


def _fix_not_installed(context: CheckContext) -> str:
    page = f"{context.public_url}/auth/slack/install"
    if context.settings.slack.workspaces:
        return f"install it: {page}"
    return f"name the workspaces in slack.workspaces, then install it: {page}"


def _check_workspace(api: SlackClient, team: str) -> Iterator[CheckResult]:
    try:
        yield judge_scopes(fetch_app_status(api, team))
    except AuthenticationError as error:
        yield result_of_error(error, _FIX_BOT_TOKEN)


def judge_scopes(standing: AppStatus) -> CheckResult:
    missing = missing_scopes(standing)
    if missing:
        return failed(f"{standing.team}: no {', '.join(missing)}", _FIX_SCOPES)
    told = "" if standing.scopes is None else ", with all scopes"
    return ok(f"{standing.user} in {standing.team}{told}")
