"""Check Jira: who we are there, and what we may do in the projects."""

from collections.abc import Iterator, Mapping
from contextlib import closing

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
from patchwright.core.types.errors import AuthenticationError, NotFoundError
from patchwright.integrations.jira.adapter import (
    LABEL_PERMISSIONS,
    NEEDED_PERMISSIONS,
    TRANSITION_PERMISSIONS,
    connect_jira,
    fetch_missing_permissions,
)
from patchwright.integrations.jira.client import JiraClient
from patchwright.integrations.jira.settings import JiraSettings

_FIX_JIRA_LOGIN = (
    "set jira.token to a valid token, and jira.user to its user (only Cloud)"
)


def check_jira(context: CheckContext) -> CheckResult:
    settings = JiraSettings.of(context.settings)
    if not settings.is_configured:
        return skipped("Jira is not configured")
    with closing(connect_jira(settings, context.clock)) as jira:
        try:
            own = jira.fetch_identity()
        except AuthenticationError as error:
            return result_of_error(error, _FIX_JIRA_LOGIN)
    return ok(f"{own.login} at {settings.host}")


def check_projects(context: CheckContext) -> CheckResult:
    settings = JiraSettings.of(context.settings)
    if not settings.is_configured:
        return skipped("Jira is not configured")
    if not settings.projects:
        return warning(
            "no project is configured",
            'set jira.projects, such as {"SHOP": "owner/name"}',
        )
    with closing(connect_jira(settings, context.clock)) as jira:
        found = [
            one
            for key in settings.projects
            for one in _project_problems(jira.api, key, settings)
        ]
    return combine((ok(f"{', '.join(settings.projects)}: all permissions"), *found))


def _project_problems(
    api: JiraClient, key: str, settings: JiraSettings
) -> Iterator[CheckResult]:
    try:
        missing = fetch_missing_permissions(api, key, _needed_permissions(settings))
    except NotFoundError:
        yield failed(
            f"there is no project {key}, or the bot's user cannot see it",
            f"correct jira.projects, or let the bot's user browse {key}",
        )
        return
    for line in missing:
        yield failed(
            f"{key}: {line}",
            f"give it to the bot's user: project settings of {key}, People",
        )


def _needed_permissions(settings: JiraSettings) -> Mapping[str, str]:
    ways = settings.transitions
    moves = any((ways.on_start, ways.on_pr, ways.on_merge))
    return {
        **NEEDED_PERMISSIONS,
        **LABEL_PERMISSIONS,
        **(TRANSITION_PERMISSIONS if moves else {}),
    }
