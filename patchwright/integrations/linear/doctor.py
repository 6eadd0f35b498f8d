"""Check Linear: who we are there, what the app may do, and the teams."""

from collections.abc import Iterator
from contextlib import contextmanager

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
from patchwright.core.plugin_host import MemoryVault
from patchwright.core.text.strings import count_noun
from patchwright.core.types.errors import AuthenticationError
from patchwright.integrations.linear.adapter import Linear, connect_linear
from patchwright.integrations.linear.compose import make_oauth
from patchwright.integrations.linear.settings import LinearSettings
from patchwright.integrations.linear.tokens import (
    INSTALL_PATH,
    LinearInstallations,
    StaticLinearToken,
)
from patchwright.integrations.linear.webhooks.payloads import LinearWorkspace

_NOT_CONFIGURED = "Linear is not configured"
_NOT_INSTALLED = "no workspace has installed the app"
_FIX_LOGIN = "set linear.token to a valid API key or token of an app"
_FIX_INSTALLATION = "install the app in the workspace again"


def check_linear(context: CheckContext) -> CheckResult:
    settings = LinearSettings.of(context.settings)
    if not settings.is_configured:
        return skipped(_NOT_CONFIGURED)
    with _connected(context, settings) as (linear, workspaces):
        if not workspaces:
            return warning(_NOT_INSTALLED, _fix_not_installed(context, settings))
        fix = _FIX_LOGIN if settings.token else _FIX_INSTALLATION
        found = [_check_workspace(linear, one.url_key, fix) for one in workspaces]
    if not settings.webhook_secret:
        found.append(
            warning(
                f"no webhooks: requests are found every {settings.poll_seconds:g} "
                "seconds, and sessions are shown as unresponsive",
                "make a webhook in Linear, and set linear.webhook_secret to its secret",
            )
        )
    head = () if settings.token else (ok(count_noun(len(workspaces), "workspace")),)
    return combine((*head, *found))


def check_teams(context: CheckContext) -> CheckResult:
    settings = LinearSettings.of(context.settings)
    if not settings.is_configured:
        return skipped(_NOT_CONFIGURED)
    if not settings.teams:
        return skipped(
            "linear.teams is empty: repositories come from Linear, or people are asked"
        )
    with _connected(context, settings) as (linear, workspaces):
        if not workspaces:
            return skipped(_NOT_INSTALLED)
        try:
            known = {
                name
                for one in workspaces
                for name in _names(linear, one.url_key, settings)
            }
        except AuthenticationError as error:
            return result_of_error(error, _FIX_LOGIN)
    missing = [one for one in settings.teams if one.casefold() not in known]
    if missing:
        return failed(
            f"no team or project: {', '.join(missing)}",
            "correct linear.teams, or give the bot access to the team in Linear",
        )
    return ok(f"{', '.join(settings.teams)}: known")


def _check_workspace(linear: Linear, url_key: str, fix: str) -> CheckResult:
    try:
        own = linear.fetch_workspace(url_key)
        teams = linear.fetch_teams(url_key)
    except AuthenticationError as error:
        return result_of_error(error, fix)
    if not teams:
        return failed(
            f"{own.own_name} in {own.url_key} sees no team",
            "give it access to the teams, in Linear's settings",
        )
    kind = "an app, with sessions" if own.is_app else "a user, without sessions"
    seen = count_noun(len(teams), "team")
    return ok(f"{own.own_name} in {own.url_key}: {kind}, sees {seen}")


def _names(linear: Linear, url_key: str, settings: LinearSettings) -> Iterator[str]:
    """Yield the names that the settings may have; projects only if need be."""
    teams = linear.fetch_teams(url_key)
    keys = {one.key.casefold() for one in teams}
    yield from keys
    if not {one.casefold() for one in settings.teams} <= keys:
        projects = linear.fetch_projects(url_key, teams)
        yield from (one.casefold() for one in projects)


def _fix_not_installed(context: CheckContext, settings: LinearSettings) -> str:
    page = f"{context.public_url}{INSTALL_PATH}"
    if settings.workspaces:
        return f"install it: {page}"
    return f"set linear.workspaces to the workspaces, then install the app: {page}"


@contextmanager
def _connected(
    context: CheckContext, settings: LinearSettings
) -> Iterator[tuple[Linear, tuple[LinearWorkspace, ...]]]:
    """Connect with the token, or as the app wherever it is installed."""
    if settings.token is not None:
        tokens = StaticLinearToken(settings.token)
        linear = connect_linear(settings, tokens, context.clock)
        yield linear, (LinearWorkspace(id="", url_key=""),)
        return
    with context.open_secrets() as secrets:
        oauth = make_oauth(settings, context.public_url)
        vault = MemoryVault() if secrets is None else secrets
        store = LinearInstallations(vault, oauth.refresh, context.clock)
        yield connect_linear(settings, store, context.clock), store.list_all()
