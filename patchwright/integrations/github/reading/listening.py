"""What counts as asking, and who is who in a delivery."""

from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.integrations.github.payloads import GitHubUser

SERVICE = "github"


class GitHubTriggerRules(Value):
    """What counts as asking. `mention` is written with its @ or slash.

    `own_login` is ours, such as `patchwright[bot]`; empty where it is not known. To be
    assigned to `assignee` counts as to us.
    """

    mention: str
    label: str = ""
    own_login: str = ""
    assignee: str = ""

    def is_own(self, name: str) -> bool:
        """Tell whether a login or the slug of an App is ours."""
        return bool(self.own_login) and _plain(name) == _plain(self.own_login)

    def is_assignee(self, login: str) -> bool:
        """Tell whether to assign somebody is to ask us."""
        is_named = bool(self.assignee) and _plain(login) == _plain(self.assignee)
        return is_named or self.is_own(login)


def actor_of(user: GitHubUser) -> Actor:
    return Actor(
        service=SERVICE,
        login=user.login,
        external_id=str(user.id),
        is_bot=user.type == "Bot" or user.login.endswith("[bot]"),
    )


def is_same(one: GitHubUser, other: GitHubUser) -> bool:
    return one.login.casefold() == other.login.casefold()


def _plain(login: str) -> str:
    return login.removesuffix("[bot]").casefold()
