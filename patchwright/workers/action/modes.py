"""What the input `mode` makes of a request."""

from typing import Final

from patchwright.core.errors import SettingsError
from patchwright.core.text.commands import Verb, parse_command
from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.triggers import Trigger

_MODE_REQUESTS: Final = {
    "fix": "Bring the change itself: words alone will not do.",
    "answer": "Answer in words. Change nothing.",
    "review-feedback": (
        "See to what reviewers have said in the open review threads of this pull "
        "request, each of them."
    ),
    "ci-fix": "Make the failing checks of this pull request pass.",
}
_OF_PULL_REQUESTS: Final = ("review-feedback", "ci-fix")


def with_mode(trigger: Trigger, mode: str) -> Trigger:
    """Return the request as the mode wants it; what is a command stays one.

    Raises `SettingsError` for a thread that the mode does not go with.
    """
    command = parse_command(trigger.request)
    if mode == "auto" or trigger.kind.is_automatic or command is not None:
        return trigger
    thread = trigger.thread
    if mode in _OF_PULL_REQUESTS and thread.kind is not ThreadKind.PULL_REQUEST:
        raise SettingsError(
            f"input `mode` is {mode}, which is for pull requests; {thread.name} is none"
        )
    return trigger.replace(request=_request_for_mode(trigger.request, mode))


def _request_for_mode(request: str, mode: str) -> str:
    if mode == "plan":
        return f"{Verb.PLAN} {request}".strip()
    return "\n\n".join(part for part in (request, _MODE_REQUESTS[mode]) if part)
