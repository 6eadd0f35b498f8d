"""What our user may do in a project of Jira."""

from collections.abc import Mapping
from typing import Final

from patchwright.integrations.jira.answers import JiraModel, parse_answer
from patchwright.integrations.jira.api import JiraClient

# https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-permissions/
NEEDED_PERMISSIONS: Final[Mapping[str, str]] = {
    "BROWSE_PROJECTS": "reading tickets",
    "ADD_COMMENTS": "answering",
    "EDIT_OWN_COMMENTS": "keeping the one comment about a run up to date",
    "LINK_ISSUES": "linking the pull request",
}
LABEL_PERMISSIONS: Final[Mapping[str, str]] = {"EDIT_ISSUES": "changing labels"}
TRANSITION_PERMISSIONS: Final[Mapping[str, str]] = {"TRANSITION_ISSUES": "moving tickets"}


class _Permission(JiraModel):
    have_permission: bool = False


class _OwnPermissions(JiraModel):
    permissions: dict[str, _Permission]


def fetch_missing_permissions(api: JiraClient, project: str, needed: Mapping[str, str]) -> tuple[str, ...]:
    """Return a line for every permission that is needed there and was not given.

    Raises `NotFoundError` where there is no such project, or we may not see it.
    """
    query = {"projectKey": project, "permissions": ",".join(needed)}
    mine = parse_answer(_OwnPermissions, api.get("mypermissions", query)).permissions
    return tuple(
        f"permission {name}: needed for {use}"
        for name, use in needed.items()
        if not mine.get(name, _Permission()).have_permission
    )
