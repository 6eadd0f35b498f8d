"""Check that the projects of the settings are there, and what we may do in them."""

from collections.abc import Iterator, Mapping
from contextlib import closing

from patchwright.core.errors import NotFoundError
from patchwright.core.settings.jira import JiraSettings
from patchwright.integrations.jira.adapter import connect_jira
from patchwright.integrations.jira.api import Api
from patchwright.integrations.jira.standing import (
    EDITING,
    MOVING,
    NEEDED,
    fetch_missing,
)
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.finding import (
    Finding,
    combine,
    failed,
    ok,
    skipped,
    warning,
)


def check(context: Case) -> Finding:
    settings = context.settings.jira
    if not settings.is_configured:
        return skipped("Jira is not configured")
    if not settings.projects:
        return warning(
            "no project is listened to",
            'set jira.projects, such as {"SHOP": "owner/name"}',
        )
    with closing(connect_jira(settings, context.clock)) as jira:
        found = [
            one for key in settings.projects for one in _look(jira.api, key, settings)
        ]
    return combine((ok(f"{', '.join(settings.projects)}: all permissions"), *found))


def _look(api: Api, key: str, settings: JiraSettings) -> Iterator[Finding]:
    try:
        missing = fetch_missing(api, key, _needed(settings))
    except NotFoundError:
        yield failed(
            f"there is no project {key}, or our user may not see it",
            f"correct jira.projects, or let our user browse {key}",
        )
        return
    for line in missing:
        yield failed(
            f"{key}: {line}", f"give it to our user: project settings of {key}, People"
        )


def _needed(settings: JiraSettings) -> Mapping[str, str]:
    ways = settings.transitions
    moves = any((ways.on_start, ways.on_pr, ways.on_merge))
    return {**NEEDED, **EDITING, **(MOVING if moves else {})}
