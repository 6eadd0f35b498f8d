"""Hold what the fake answers against answers that were recorded of the real one.

The recordings are of several years, and most are cut down. So what they say is: a
field that both have is of the same kind, and no field of a recording that is whole is
missing here.
"""

import json
import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tests.fakes.github.exchange import Request
from tests.fakes.gitlab.exchange import Json
from tests.fakes.gitlab.routing import Handled
from tests.provision.environment import corpus

API = "/api/v4"
# What recordings hold that no server of today sends, or sends otherwise; why.
KNOWN = {
    "labels": "with details only where that is asked for",
    "noteable_type": "recorded answers say Merge request",
    "id": "one recording is of an issue in Jira",
    "line_range": "null for a single line",
}


# What servers of today have no more.
GONE = frozenset({"skype", "group_id"})


@dataclass(frozen=True)
class Recorded:
    """An answer of the real one, and the pattern of the paths that it fits."""

    method: str
    path: re.Pattern[str]
    body: Any
    is_whole: bool = False


@dataclass
class Contract:
    """Notes what differs; a test fails by it when its server ends."""

    problems: list[str] = field(default_factory=list)

    def note(self, request: Request, handled: Handled) -> None:
        answer = handled.answer
        if answer.status not in (200, 201) or isinstance(answer.body, bytes):
            return
        for recorded in recordings():
            if recorded.method == request.method and recorded.path.fullmatch(
                request.path
            ):
                where = f"{request.method} {request.path}"
                self.problems += differences(recorded.body, answer.body, where)
                if recorded.is_whole:
                    self.problems += missing(recorded.body, answer.body, where)

    def check(self) -> None:
        """Raise where the fake said what the real one would not."""
        if self.problems:
            raise AssertionError("\n".join(dict.fromkeys(self.problems)))


def differences(real: Any, ours: Any, where: str) -> list[str]:
    """Return what is of another kind in the two, by the place where it stands."""
    if real is None or ours is None:
        return []
    if isinstance(real, list) and isinstance(ours, list):
        pairs = [(real[0], one) for one in ours] if real else []
        return [text for a, b in pairs for text in differences(a, b, f"{where}[]")]
    if isinstance(real, dict) and isinstance(ours, dict):
        return _in_objects(real, ours, where)
    if _kind(real) != _kind(ours):
        return [f"{where} is {_kind(real)} there and {_kind(ours)} here"]
    return []


def _in_objects(real: Json, ours: Json, where: str) -> list[str]:
    found = []
    for name in real.keys() & ours.keys() - KNOWN.keys():
        found += differences(real[name], ours[name], f"{where}.{name}")
    return found


def missing(real: Any, ours: Any, where: str) -> list[str]:
    """Return the fields that a whole recording has and our answer has not."""
    if isinstance(real, list) and isinstance(ours, list) and real and ours:
        return missing(real[0], ours[0], f"{where}[]")
    if not isinstance(real, dict) or not isinstance(ours, dict):
        return []
    found = [f"{where} has no {name}" for name in real.keys() - ours.keys() - GONE]
    for name in real.keys() & ours.keys():
        found += missing(real[name], ours[name], f"{where}.{name}")
    return found


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "a truth"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"


@cache
def recordings() -> list[Recorded]:
    """Return the recorded answers, none where there is no corpus."""
    folder = corpus()
    if folder is None:
        return []
    found = json.loads((folder / "gitlab/rest/exchanges.json").read_text())
    listed = [_recorded(one["method"], one["path"], one["body"]) for one in found]
    for file, path in LONGER.items():
        body = json.loads((folder / "gitlab/rest" / file).read_text())
        listed.append(_recorded("GET", f"{API}{path}", body, is_whole=True))
    return listed


LONGER = {
    "get_branch.json": "/projects/1/repository/branches/main",
    "get_commit.json": "/projects/1/repository/commits/b0b3a907f41409829b307a28b",
    "get_merge_request.json": "/projects/1/merge_requests/1",
    "get_merge_requests.json": "/projects/1/merge_requests",
    "get_user.json": "/users/1",
    "list_branches.json": "/projects/1/repository/branches",
    "list_merge_request_diff.json": "/projects/1/merge_requests/1/diffs",
    "search_users.json": "/users",
}
_NAMED = re.compile(r"(?<=/projects/)[^/]+|(?<=/branches/)[^/]+|(?<=/commits/)[^/]+")
_NUMBERED = re.compile(r"(?<=/)(?:\d+|[0-9a-f]{40})(?=/|$)")


def _recorded(method: str, path: str, body: Any, *, is_whole: bool = False) -> Recorded:
    path = path.partition("?")[0].removeprefix(API)
    general = re.escape(_NUMBERED.sub("=", _NAMED.sub("@", path)))
    # A list may lie where a number could, such as `members/all`.
    pattern = general.replace("@", "[^/]+").replace("=", r"(?:\d+|[0-9a-f]{40})")
    return Recorded(method, re.compile(pattern), body, is_whole)
