"""Look up whom the administrators say an actor is."""

from collections.abc import Iterable, Mapping

from patchwright.core.types.people import Actor


def mapped_person(
    entries: Iterable[Mapping[str, str]], actor: Actor, forge: str = "github"
) -> Actor | None:
    """Return who the actor is on the forge by `accounts.map`, the first entry first.

    Ids alone count: what people call themselves, others may call themselves too.
    """
    if actor.service == forge or not actor.external_id:
        return None
    ids = {actor.external_id, f"{actor.host}/{actor.external_id}"}
    for entry in entries:
        if entry.get(actor.service) in ids and forge in entry:
            return Actor(service=forge, login=entry[forge].removeprefix("@"))
    return None
