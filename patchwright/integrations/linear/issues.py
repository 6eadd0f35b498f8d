"""What an issue has beside its words: a status, labels, and a repository."""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from pydantic import JsonValue

from patchwright.core.types.errors import InvalidRequestError
from patchwright.core.types.threads import TalkThread
from patchwright.integrations.linear.client import LinearClient, url_key_of
from patchwright.integrations.linear.plugin import FIRST_REVIEW, FIRST_STARTED
from patchwright.integrations.linear.sessions import Nothing
from patchwright.integrations.linear.settings import LinearSettings
from patchwright.integrations.linear.threads import issue_id
from patchwright.integrations.linear.webhooks.payloads import (
    JsonObject,
    LinearModel,
    NamedNode,
    Text,
)

STATUS_QUERY: Final = """
query Status($id: String!) {
  issue(id: $id) {
    id
    state { id name type }
    delegate { id }
    team { id states(first: 100) { nodes { id name type position } } }
  }
}
"""
LABELS_QUERY: Final = """
query Labels($id: String!, $names: [String!]!) {
  issue(id: $id) {
    id
    team { id }
    labels(first: 100) { nodes { id name } }
  }
  issueLabels(first: 100, filter: { name: { in: $names } }) {
    nodes { id name team { id } }
  }
}
"""
REPOSITORY_QUERY: Final = """
query Repository($id: String!) {
  issue(id: $id) {
    id
    project { id name }
    team { id key }
    attachments(first: 50) { nodes { sourceType url } }
  }
}
"""
UPDATE_ISSUE: Final = """
mutation UpdateIssue($id: String!, $input: IssueUpdateInput!) {
  issueUpdate(id: $id, input: $input) { success }
}
"""

_STARTED: Final = "started"
_OVER: Final = frozenset({"completed", "canceled", "duplicate"})
_REVIEW: Final = "review"
_SYNCED: Final = frozenset({"github", "gitlab"})
# What follows a repository in the address of an issue or a pull request.
_PATH: Final = re.compile(
    r"/(?P<repo>[^/]+/[^/]+?)/(?:issues|pull|discussions)/\d+"
    r"|/(?P<project>.+?)/-/(?:issues|work_items|merge_requests)/\d+"
)


class _State(LinearModel):
    id: str
    name: str
    type: str = ""
    position: float = 0.0


class _States(LinearModel):
    nodes: tuple[_State, ...] = ()


class _StatusTeam(LinearModel):
    id: str
    states: _States = _States()


class _Node(LinearModel):
    id: str


class _StatusIssue(LinearModel):
    id: str
    state: _State
    delegate: _Node | None = None
    team: _StatusTeam


class _IssueStatusAnswer(LinearModel):
    issue: _StatusIssue


class _Label(LinearModel):
    id: str
    name: str
    team: _Node | None = None


class _KnownLabels(LinearModel):
    nodes: tuple[_Label, ...] = ()


class _LabelIssue(LinearModel):
    id: str
    team: _Node
    labels: _KnownLabels = _KnownLabels()


class _LabelsAnswer(LinearModel):
    issue: _LabelIssue
    issue_labels: _KnownLabels = _KnownLabels()


class _SyncedLink(LinearModel):
    source_type: Text = ""
    url: Text = ""


class _SyncedLinks(LinearModel):
    nodes: tuple[_SyncedLink, ...] = ()


class _RepositoryTeam(LinearModel):
    id: str
    key: str


class _RepositoryIssue(LinearModel):
    id: str
    project: NamedNode | None = None
    team: _RepositoryTeam
    attachments: _SyncedLinks = _SyncedLinks()


class _TiedRepositoryAnswer(LinearModel):
    issue: _RepositoryIssue


class IssueMoves:
    """Brings an issue to a status of its team.

    An app that begins the work becomes its delegate if nobody is: then people see who
    works on it, while the assignee stays the one who answers for it.
    https://linear.app/developers/agent-best-practices
    """

    def __init__(self, api: LinearClient) -> None:
        self._api = api

    def move(self, ref: TalkThread, status: str) -> None:
        """Raise `InvalidRequestError` if the team has no status of that name."""
        url_key = url_key_of(ref)
        issue = self._api.read(
            url_key, _IssueStatusAnswer, STATUS_QUERY, {"id": issue_id(ref)}
        ).issue
        target = choose_state(issue.state, issue.team.states.nodes, status)
        change: JsonObject = {}
        if target is not None and target.id != issue.state.id:
            change["stateId"] = target.id
        own = self._api.identity(url_key)
        if status == FIRST_STARTED and own.is_app and issue.delegate is None:
            change["delegateId"] = own.own_id
        if change:
            self._api.ask(
                url_key, Nothing, UPDATE_ISSUE, {"id": issue.id, "input": change}
            )


def choose_state(now: _State, states: Iterable[_State], status: str) -> _State | None:
    """Return the state to bring an issue to, None if it stays where it is.

    Nothing leads back from an end, unless a state is named.
    """
    in_order = sorted(states, key=lambda one: one.position)
    started = [one for one in in_order if one.type == _STARTED]
    if status == FIRST_STARTED:
        stays = now.type == _STARTED or now.type in _OVER
        return None if stays else next(iter(started), None)
    if status == FIRST_REVIEW:
        reviews = (one for one in started if _REVIEW in one.name.casefold())
        return None if now.type in _OVER else next(reviews, None)
    wanted = status.strip().casefold()
    found = next((one for one in in_order if one.name.casefold() == wanted), None)
    if found is None:
        known = ", ".join(one.name for one in in_order)
        raise InvalidRequestError(f"the team has no status {status}, only: {known}")
    return found


def change_labels(
    api: LinearClient, ref: TalkThread, add: tuple[str, ...], remove: tuple[str, ...]
) -> None:
    """Put on those that the team or the workspace has, and take others off."""
    names: list[JsonValue] = [*dict.fromkeys((*add, *remove))]
    if not names:
        return
    url_key = url_key_of(ref)
    variables: JsonObject = {"id": issue_id(ref), "names": names}
    answer = api.read(url_key, _LabelsAnswer, LABELS_QUERY, variables)
    issue = answer.issue
    worn = {one.id for one in issue.labels.nodes}
    known = [
        one
        for one in answer.issue_labels.nodes
        if one.team is None or one.team.id == issue.team.id
    ]
    added: list[JsonValue] = [*_ids_of(known, add, worn, are_worn=False)]
    removed: list[JsonValue] = [*_ids_of(issue.labels.nodes, remove, worn)]
    change: JsonObject = {}
    if added:
        change["addedLabelIds"] = added
    if removed:
        change["removedLabelIds"] = removed
    if change:
        api.ask(url_key, Nothing, UPDATE_ISSUE, {"id": issue.id, "input": change})


def _ids_of(
    labels: Iterable[_Label],
    names: tuple[str, ...],
    worn: set[str],
    *,
    are_worn: bool = True,
) -> list[str]:
    wanted = {name.casefold() for name in names}
    found = {
        one.name.casefold(): one.id
        for one in labels
        if one.name.casefold() in wanted and (one.id in worn) is are_worn
    }
    return list(found.values())


def fetch_repository(
    api: LinearClient, settings: LinearSettings, ref: TalkThread
) -> str:
    """Return the repository of an issue by its name or an address in it, or nothing.

    The settings come first, a project before its team; then the one repository whose
    issues or pull requests Linear keeps in step with it.
    """
    issue = api.read(
        url_key_of(ref), _TiedRepositoryAnswer, REPOSITORY_QUERY, {"id": issue_id(ref)}
    ).issue
    project = issue.project.name if issue.project else ""
    if named := settings.repository_of(project, issue.team.key):
        return named
    found = {
        name: one.url
        for one in issue.attachments.nodes
        if one.source_type.casefold() in _SYNCED and (name := repository_at(one.url))
    }
    return next(iter(found.values())) if len(found) == 1 else ""


def repository_at(url: str) -> str:
    """Return the repository of an issue or pull request at an address."""
    found = _PATH.match(urlsplit(url).path)
    return (found["repo"] or found["project"]) if found else ""
