"""Who people are in Jira."""

from typing import Final

from patchwright.core.types.people import Actor
from patchwright.integrations.jira.answers import JiraUser
from patchwright.integrations.jira.listening import SERVICE

# Who is shown where an account was deleted.
NOBODY: Final = "Former user"
# The accounts of apps and automations.
# https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-users/
_APP: Final = "app"


def actor_of(person: JiraUser | None, host: str, own_id: str = "") -> Actor:
    """Return the actor; our own user is a bot, as an app is."""
    if person is None:
        return Actor(service=SERVICE, login=NOBODY, host=host)
    return Actor(
        service=SERVICE,
        login=person.display_name or person.name or person.id,
        external_id=person.id,
        is_bot=person.account_type == _APP or (bool(own_id) and person.id == own_id),
        host=host,
    )
