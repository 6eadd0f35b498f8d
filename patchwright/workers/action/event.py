"""What the event of a workflow says of numbers, apart from what it asks for."""

from collections.abc import Mapping
from typing import Any, Final

_THREAD_PARTS: Final = ("issue", "pull_request", "discussion")
_CHECK_PARTS: Final = ("workflow_run", "check_suite", "check_run")


def number_of_thread(event: Mapping[str, Any]) -> int:
    """Return the number of the thread that it is about; 0 where there is none."""
    found = (number_in(event, kind, "number") for kind in _THREAD_PARTS)
    return next(filter(None, found), 0)


def number_of_checks(event: Mapping[str, Any]) -> int:
    """Return the pull request whose checks have ended, 0 if none have."""
    for kind in _CHECK_PARTS:
        part = event.get(kind)
        pulls = part.get("pull_requests") if isinstance(part, dict) else None
        for pull in pulls if isinstance(pulls, list) else ():
            if _is_here(pull, event):
                return number_in({"pull": pull}, "pull", "number")
    return 0


def _is_here(pull: object, event: Mapping[str, Any]) -> bool:
    """Tell whether a pull request is one of this repository.

    GitHub lists all that have the branch, those in forks too, where somebody else
    chooses the number.
    """
    base = pull.get("base") if isinstance(pull, dict) else None
    home = number_in(base, "repo", "id") if isinstance(base, dict) else 0
    return home > 0 and home == number_in(event, "repository", "id")


def number_in(event: Mapping[str, Any], part: str, key: str) -> int:
    found = event.get(part)
    number = found.get(key) if isinstance(found, dict) else None
    return number if isinstance(number, int) else 0


def payload_in(event: Mapping[str, Any], event_name: str) -> Mapping[str, Any]:
    """Return what a dispatch has brought along; no other event brings anything."""
    if event_name != "repository_dispatch":
        return {}
    found = event.get("client_payload")
    return found if isinstance(found, dict) else {}
