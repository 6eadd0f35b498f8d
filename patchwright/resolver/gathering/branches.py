"""Find the branch that links to code agree on: an issue may be about that one."""

from collections.abc import Iterable, Sequence

from patchwright.core.types.threads import RepoRef
from patchwright.resolver.gathering.links import CodeLink, TextLink


def agreed_branches(links: Iterable[TextLink], home: RepoRef) -> tuple[str, ...]:
    """Return what that branch may be called, the shortest name first.

    An address does not say where the branch's name ends and the path begins. A commit
    names no branch. Empty where there are no such links, or where they differ.
    """
    rests = [
        link.target.rest
        for link in links
        if isinstance(link.target, CodeLink)
        and link.target.repo == home
        and not link.target.sha
    ]
    if not rests:
        return ()
    possible = [_possible_names(rest) for rest in rests]
    return tuple(
        name for name in possible[0] if all(name in others for others in possible)
    )


def _possible_names(rest: str) -> Sequence[str]:
    parts = rest.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
