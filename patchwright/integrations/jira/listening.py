"""What counts as asking, and whom a delivery may speak for."""

from typing import Final

from patchwright.core.types.base import Value

SERVICE: Final = "jira"


class JiraTriggerRules(Value):
    """What counts as asking, on one site. `mention` is written with its @.

    `host` is the site's host and path. Projects that are not among `projects` are not
    listened to. `own_ids` is what the site calls our user: account id, name, key.
    """

    host: str
    projects: frozenset[str]
    mention: str
    label: str = ""
    own_ids: frozenset[str] = frozenset()
