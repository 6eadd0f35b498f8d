"""Check who we are in Slack, and whether we have the scopes that are needed."""

from collections.abc import Iterator

from patchwright.core.errors import AuthenticationError
from patchwright.integrations.slack.adapter import connect
from patchwright.integrations.slack.api import Api
from patchwright.integrations.slack.standing import (
    Standing,
    fetch_standing,
    missing_scopes,
)
from patchwright.integrations.slack.tokens import GivenToken
from patchwright.resolver.messages.facts import counted
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.errors import explained
from patchwright.workers.doctor.finding import (
    Finding,
    combine,
    failed,
    ok,
    skipped,
    warning,
)
from patchwright.workers.doctor.known_app import secret_store
from patchwright.workers.doctor.stored import readable
from patchwright.workers.store.installations import StoredInstallations

_RENEW = "install the app in the workspace again, and set slack.bot_token to its token"
_SCOPES = "take them over from slack.yml (OAuth & Permissions), and install it again"


def check(context: Case) -> Finding:
    settings = context.settings.slack
    if not settings.is_configured:
        return skipped("Slack is not configured")
    if settings.bot_token is None:
        return _installations(context)
    tokens = GivenToken(settings.bot_token)
    api = connect(settings.api_url, tokens=tokens, clock=context.clock).api
    return combine(_look(api, ""))


def _installations(context: Case) -> Finding:
    """Look at every workspace that has installed the app."""
    with readable(context.settings) as database:
        secrets = (
            secret_store(context.settings, database, context.clock) if database else None
        )
        if secrets is None:
            return skipped("no workspace has installed the app")
        tokens = StoredInstallations(secrets)
        url = context.settings.slack.api_url
        api = connect(url, tokens=tokens, clock=context.clock).api
        found = [one for team in tokens.ids() for one in _look(api, team)]
    if not found:
        return warning("no workspace has installed the app", _next_step(context))
    return combine((ok(counted(len(found), "workspace")), *found))


def _next_step(context: Case) -> str:
    page = f"{context.public_url}/auth/slack/install"
    if context.settings.slack.workspaces:
        return f"install it: {page}"
    return f"name the workspaces in slack.workspaces, then install it: {page}"


def _look(api: Api, team: str) -> Iterator[Finding]:
    try:
        yield judge(fetch_standing(api, team))
    except AuthenticationError as error:
        yield explained(error, _RENEW)


def judge(standing: Standing) -> Finding:
    missing = missing_scopes(standing)
    if missing:
        return failed(f"{standing.team}: no {', '.join(missing)}", _SCOPES)
    told = "" if standing.scopes is None else ", with all scopes"
    return ok(f"{standing.user} in {standing.team}{told}")
