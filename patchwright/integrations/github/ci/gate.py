"""Find the runs that a request must wait for; the workflow's gate job runs this.

It uses only the standard library, since nothing is installed yet when it runs.
"""

import json
import os
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

PREFIX: Final = "PATCHWRIGHT_GATE_"
TIMEOUT_S: Final = 20
# What branches are called where a template cannot be followed.
USUAL_TEMPLATE: Final = "patchwright/{{number}}-{{slug}}"
# These are answered at once and write to no branch, so they do not wait for a run to
# end.
ANSWERED: Final = frozenset(
    {"cost", "help", "pause", "reject", "status", "stop", "why"}
)
_VARIABLE: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")

# The branch of a pull request, and the repository it is in.
Head = tuple[str, str]


@dataclass(frozen=True)
class GateRequest:
    """What happened, and where."""

    event: Mapping[str, Any]
    repository: str
    run_id: str
    number: str
    phrase: str
    template: str


def find_group(asked: GateRequest, fetch_head: Callable[[str], Head | None]) -> str:
    """Return a name that all runs share which may write to the same branch.

    `fetch_head` is asked for a number that may be a pull request's.
    """
    if _is_answered(asked):
        return f"run-{asked.run_id}"
    discussion = asked.event.get("discussion") or {}
    if discussion and not asked.number:
        return f"discussion-{discussion['number']}"
    number = asked.number or _number_of(asked.event)
    # What is no number is for the run to refuse.
    if not re.fullmatch("[0-9]{1,18}", number):
        return f"run-{asked.run_id}"
    head = _head_in(asked, number, fetch_head)
    return _branch_group(head, asked) if head else f"thread-{number}"


def _is_answered(asked: GateRequest) -> bool:
    """Tell whether a comment is a command alone, of those that only want an answer."""
    text = (asked.event.get("comment") or {}).get("body") or ""
    _, phrase, rest = text.lower().partition(asked.phrase.lower())
    return bool(phrase) and rest.strip(" \t\r\n,.:;!?-") in ANSWERED


def _number_of(event: Mapping[str, Any]) -> str:
    thread = event.get("issue") or event.get("pull_request") or {}
    return str(thread.get("number", ""))


def _head_in(
    asked: GateRequest, number: str, fetch_head: Callable[[str], Head | None]
) -> Head | None:
    """Return the head of a pull request, asking only for what the event cannot tell."""
    issue = asked.event.get("issue") or {}
    if str(issue.get("number")) == number and not issue.get("pull_request"):
        return None
    pull = asked.event.get("pull_request") or {}
    head = head_of(pull) if str(pull.get("number")) == number else fetch_head(number)
    is_here = head is not None and head[1].lower() == asked.repository.lower()
    return head if is_here else None


def _branch_group(head: Head, asked: GateRequest) -> str:
    """Name the issue that a branch of ours is for; other branches go by their name."""
    branch = head[0]
    known = (asked.template, USUAL_TEMPLATE)
    # If git refuses the name because of another branch, ours has no slashes.
    for template in (*known, *(one.replace("/", "-") for one in known)):
        if found := _as_pattern(template).fullmatch(branch):
            return f"thread-{found['number']}"
    return f"branch-{_CONTROL.sub('', branch)}"


def _as_pattern(template: str) -> re.Pattern[str]:
    """Return what matches the branches of a template, and none without a number."""
    texts, names = _VARIABLE.split(template)[::2], _VARIABLE.findall(template)
    if "number" not in names:
        return re.compile(r"(?P<number>(?!))")
    places = [".*"] * len(names) + [""]
    places[names.index("number")] = r"(?P<number>\d+)"
    parts = zip(texts, places, strict=True)
    return re.compile("".join(re.escape(text) + place for text, place in parts))


def head_of(pull: Mapping[str, Any]) -> Head:
    head = pull["head"]
    # The repository of a fork may be gone.
    return head["ref"], (head.get("repo") or {}).get("full_name", "")


def read_event(path: Path) -> Mapping[str, Any]:
    """Return what happened; ends the step where that is no JSON that can be read."""
    try:
        event = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        sys.exit(f"GITHUB_EVENT_PATH: {path} cannot be read as JSON: {error}")
    return event if isinstance(event, dict) else {}


def main() -> None:
    """Write the group to the outputs of the step that runs this file."""
    environ = os.environ  # noqa: TID251 - no settings yet: nothing is installed
    event = read_event(Path(environ["GITHUB_EVENT_PATH"]))
    asked = GateRequest(
        event=event,
        repository=environ["GITHUB_REPOSITORY"],
        run_id=environ["GITHUB_RUN_ID"],
        number=environ[f"{PREFIX}NUMBER"].strip(),
        phrase=environ[f"{PREFIX}PHRASE"],
        template=environ[f"{PREFIX}TEMPLATE"],
    )
    address = f"{environ['GITHUB_API_URL']}/repos/{asked.repository}/pulls/"
    token = environ[f"{PREFIX}TOKEN"]
    group = find_group(asked, lambda number: _fetch_head(address + number, token))
    with Path(environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as outputs:
        outputs.write(f"group={group}\n")


def _fetch_head(address: str, token: str) -> Head | None:
    """Ask GitHub; return None for an issue, and, with a warning, without an answer.

    Then two runs may work on one branch, and the second push is refused.
    https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
    """
    request = urllib.request.Request(  # noqa: S310 - the address is the runner's own
        address,
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310 - so
            return head_of(json.load(answer))
    except urllib.error.HTTPError as error:
        with error:
            is_issue = error.code == HTTPStatus.NOT_FOUND
        if not is_issue:
            _warn(f"GitHub answered {error.code}")
    except OSError as error:
        _warn(str(error))
    return None


def _warn(problem: str) -> None:
    sys.stdout.write(
        f"::warning::Patchwright cannot find the branch of this event: {problem}\n"
    )


if __name__ == "__main__":
    main()
