"""Read a delivery of GitHub: somebody asks for something, or nobody does."""

from collections.abc import Callable, Mapping

from pydantic import ValidationError

from patchwright.core.errors import PayloadError
from patchwright.core.types.triggers import Ignored, ParsedWebhook
from patchwright.integrations.github.reading.checks import (
    read_check_suite,
    read_status,
)
from patchwright.integrations.github.reading.comments import (
    read_comment,
    read_discussion_comment,
)
from patchwright.integrations.github.reading.listening import SERVICE, GitHubTriggerRules
from patchwright.integrations.github.reading.reviews import (
    read_review,
    read_review_comment,
)
from patchwright.integrations.github.reading.threads import (
    read_discussion,
    read_issue,
    read_pull_request,
)
from patchwright.integrations.github.reading.upkeep import (
    read_app_authorization,
    read_installation,
    read_installation_repositories,
    read_push,
    read_repository,
)

__all__ = ["EVENTS", "SERVICE", "Listening", "read"]


def read_delivery(event: str, body: bytes, listening: GitHubTriggerRules) -> ParsedWebhook:
    """Read a verified delivery; raises PayloadError if it is not what `event` is."""
    reader = _READERS.get(event)
    if reader is None:
        return Ignored(reason="event-not-read")
    try:
        return reader(body, listening)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise PayloadError(f"the {event} delivery is malformed at {where!r}") from None


# `workflow_run` is not among them: what it would tell, the run's check suite tells.
_READERS: Mapping[str, Callable[[bytes, GitHubTriggerRules], ParsedWebhook]] = {
    "check_suite": read_check_suite,
    "discussion": read_discussion,
    "discussion_comment": read_discussion_comment,
    "github_app_authorization": read_app_authorization,
    "installation": read_installation,
    "installation_repositories": read_installation_repositories,
    "issue_comment": read_comment,
    "issues": read_issue,
    "pull_request": read_pull_request,
    "pull_request_review": read_review,
    "pull_request_review_comment": read_review_comment,
    "push": read_push,
    "repository": read_repository,
    "status": read_status,
}

EVENTS = frozenset(_READERS)
