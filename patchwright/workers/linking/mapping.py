"""Look up whom the administrators say an actor is."""

from collections.abc import Callable, Iterable, Mapping

from patchwright.core.types.people import Actor


def mapped_person(
    entries: Iterable[Mapping[str, str]],
    actor: Actor,
    is_from_own_site: Callable[[Actor], bool],
    forge: str = "github",
) -> Actor | None:
    """Return who the actor is on the forge by `accounts.map`, the first entry first.

    Ids alone count: what people call themselves, others may call themselves too. An id
    without its place means somebody of the place that is served, whom `is_at_home`
    knows; it is asked only then, and may raise `ServiceError`.
    """
    if actor.service == forge or not actor.external_id:
        return None
    full_id = f"{actor.host}/{actor.external_id}"
    for entry in entries:
        named = entry.get(actor.service)
        is_meant = named == full_id or (
            named == actor.external_id and is_from_own_site(actor)
        )
        if is_meant and forge in entry:
            return Actor(service=forge, login=entry[forge].removeprefix("@"))
    return None
