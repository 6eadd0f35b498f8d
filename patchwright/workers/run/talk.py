"""What requests take that come from where no code lives."""

from collections.abc import Callable
from dataclasses import dataclass

from patchwright.core.types.people import Actor
from patchwright.resolver.delivering.destination import Invitation
from patchwright.resolver.placing.places import ReferenceScope
from patchwright.workers.store.choices import ChoiceStore
from patchwright.workers.store.tying import ConversationLinkStore


@dataclass(frozen=True)
class ChatServices:
    """The collaborators of such requests.

    `find_person` says who somebody is on the forge, None if nobody knows. `invite`
    makes what asks them to show it; with `can_invite` it may. `renew` asks a person to
    show it anew, where `needs_renewal` says so, which it does once. `find_places` says
    what texts can refer to, and `offer_to` names repositories that a person may see.
    `scope_of` is the name under which a person's own choices are kept.
    """

    find_person: Callable[[Actor], Actor | None]
    can_invite: bool
    invite: Callable[[Actor], Invitation | None]
    renew: Callable[[Actor], Invitation | None]
    needs_renewal: Callable[[Actor], bool]
    find_places: Callable[[], ReferenceScope]
    offer_to: Callable[[Actor], tuple[str, ...]]
    scope_of: Callable[[Actor], str]
    choices: ChoiceStore
    conversation_links: ConversationLinkStore
