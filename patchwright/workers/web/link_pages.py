"""The pages that a person sees whose accounts are linked, and what can be wrong."""

from enum import Enum
from typing import Final

from fastapi.responses import HTMLResponse

from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.workers.account_links import display_name, service_name, workspace_name
from patchwright.workers.store.account_links import LinkRequest, LinkStatus
from patchwright.workers.web.forms import form_pages


class ProblemText(Value):
    status: int
    title: str
    text: str


class LinkProblem(Enum):
    """`{service}` is where the person came from."""

    UNKNOWN = ProblemText(
        status=404,
        title="This link is not known",
        text="It may be incomplete, or a newer link has replaced it. Please open the "
        "newest link that you got, or ask again for a new link.",
    )
    EXPIRED = ProblemText(
        status=410,
        title="This link has expired",
        text="A link is valid for 15 minutes. Please ask again for a new link.",
    )
    USED = ProblemText(
        status=410,
        title="This link has been used",
        text="A link works once. If you did not use it yourself, tell the operator of "
        "this service, and ask for a new link to link your account again.",
    )
    OTHER_BROWSER = ProblemText(
        status=403,
        title="This link was opened in another browser",
        text="A link works in one browser only. Please continue there, or ask again "
        "for a new link.",
    )
    NOT_FROM_HERE = ProblemText(
        status=403,
        title="This request did not come from our page",
        text="Nothing was linked. Please open your link again; this browser must "
        "accept the cookie of this page.",
    )
    WRONG_STATE = ProblemText(
        status=400,
        title="This sign-in did not start in this browser",
        text="The sign-in started in another browser, took longer than ten minutes, "
        "or was already finished. Nothing was linked. Please open your link "
        "again.",
    )
    DECLINED = ProblemText(
        status=403,
        title="You declined the sign-in",
        text="Nothing was linked. If that was a mistake, open your link again.",
    )
    FORGE_FAILED = ProblemText(
        status=502,
        title="The sign-in did not work",
        text="We could not find out who you are there. Nothing was linked. Please "
        "open your link again.",
    )
    NOT_PROVEN = ProblemText(
        status=409,
        title="Something is missing",
        text="We do not know yet who you are on the other service, or it has changed "
        "since we asked you. Nothing was linked. Please open your link again.",
    )


def usable_link(found: LinkRequest | None) -> LinkRequest | LinkProblem:
    """Return the link if it still counts, or else why it does not."""
    if found is None:
        return LinkProblem.UNKNOWN
    match found.standing:
        case LinkStatus.OPEN:
            return found
        case LinkStatus.EXPIRED:
            return LinkProblem.EXPIRED
        case LinkStatus.USED:
            return LinkProblem.USED


# The address of a link is a secret.
_REFERRER: Final = "no-referrer"
_PAGES: Final = form_pages(_REFERRER)
NO_TRACE: Final = {"Cache-Control": "no-store", "Referrer-Policy": _REFERRER}


def link_offer_page(
    found: LinkRequest, check: str, forge_title: str, forge_url: str
) -> HTMLResponse:
    return _PAGES.show(
        "offer_link.html",
        sends_to=forge_url,
        actor=_actor_facts(found.actor),
        forge=forge_title,
        until=found.expires_at,
        check=check,
    )


def link_confirm_page(
    found: LinkRequest, person: Actor, before: Actor | None, check: str
) -> HTMLResponse:
    replaces = before is not None and before.external_id != person.external_id
    return _PAGES.show(
        "confirm_link.html",
        actor=_actor_facts(found.actor),
        person=_actor_facts(person),
        before=_actor_facts(before) if before and replaces else None,
        check=check,
    )


def link_done_page(found: LinkRequest, person: Actor) -> HTMLResponse:
    return _PAGES.show(
        "linked.html", actor=_actor_facts(found.actor), person=_actor_facts(person)
    )


def link_problem_page(problem: LinkProblem) -> HTMLResponse:
    words = problem.value
    return _PAGES.show("link_problem.html", status=words.status, problem=words)


def _actor_facts(actor: Actor) -> dict[str, str]:
    return {
        "name": display_name(actor),
        "id": actor.external_id,
        "service": service_name(actor.service),
        "place": workspace_name(actor),
    }
