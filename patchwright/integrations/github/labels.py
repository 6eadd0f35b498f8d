"""Put labels on a thread, and take them off."""

from typing import Final
from urllib.parse import quote

from github import GithubException, UnknownObjectException
from github.Issue import Issue
from github.Repository import Repository

from patchwright.core.types.threads import ForgeThread
from patchwright.integrations.github.api import GitHubClient

_ALREADY_THERE: Final = 422
_DENIED: Final = 403
# By the last word of a label's name; people may give it another one later.
_COLOURS: Final = {
    "running": "fbca04",
    "waiting": "1d76db",
    "done": "0e8a16",
    "failed": "d93f0b",
}
_COLOUR: Final = "ededed"


def swap_labels(
    api: GitHubClient, ref: ForgeThread, add: tuple[str, ...], remove: tuple[str, ...]
) -> None:
    api.ask(ref.repo, lambda repo: _swap_labels(repo, ref.number, add, remove))


def _swap_labels(
    repo: Repository, number: int, add: tuple[str, ...], remove: tuple[str, ...]
) -> None:
    issue = repo.get_issue(number)
    # A label is the same label however it is written.
    present = {label.name.lower() for label in issue.labels}
    missing = [name for name in add if name.lower() not in present]
    for name in missing:
        _ensure_label(repo, name)
    if missing:
        issue.add_to_labels(*missing)
    for name in remove:
        if name.lower() in present:
            _remove_label(repo, issue, name)


def _ensure_label(repo: Repository, name: str) -> None:
    """Make a label in its colour: GitHub makes a missing one too, but in grey.

    Whoever may only triage cannot make any, and may use those that are there.
    https://github.com/github/docs/issues/35718
    """
    if _has_label(repo, name):
        return
    colour = _COLOURS.get(name.rpartition(":")[2], _COLOUR)
    try:
        repo.create_label(name, colour)
    except UnknownObjectException:
        return
    except GithubException as error:
        if error.status not in (_ALREADY_THERE, _DENIED):
            raise


def _has_label(repo: Repository, name: str) -> bool:
    try:
        repo.requester.requestJsonAndCheck("GET", f"{repo.url}/labels/{_quoted(name)}")
    except UnknownObjectException:
        return False
    return True


def _remove_label(repo: Repository, issue: Issue, name: str) -> None:
    try:
        repo.requester.requestJsonAndCheck(
            "DELETE", f"{issue.url}/labels/{_quoted(name)}"
        )
    except UnknownObjectException:
        # Somebody was faster.
        return


def _quoted(name: str) -> str:
    return quote(name, safe="")
