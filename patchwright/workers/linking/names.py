"""What services and the people there are called in sentences."""

from typing import Final

from patchwright.core.text.invisible import strip_invisible
from patchwright.core.types.people import Actor

_SERVICES: Final = {"github": "GitHub", "jira": "Jira", "slack": "Slack"}
_LONGEST: Final = 80


def service_name(service: str) -> str:
    return _SERVICES.get(service, service)


def display_name(actor: Actor) -> str:
    """Return what somebody calls themselves, without what would hide or bend it."""
    name = " ".join(strip_invisible(actor.login)[0].split())
    return name[:_LONGEST] or actor.external_id


def workspace_name(actor: Actor) -> str:
    """Say where in the service an actor is, empty where there is one such place."""
    if not actor.host:
        return ""
    return f"workspace {actor.host}" if actor.service == "slack" else actor.host
