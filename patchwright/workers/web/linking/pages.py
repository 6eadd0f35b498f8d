"""The pages that a person sees who is linked."""

from typing import Final

from fastapi.responses import HTMLResponse

from patchwright.core.types.people import Actor
from patchwright.workers.linking.names import workspace_name, service_name, display_name
from patchwright.workers.store.link_rows import LinkRequest
from patchwright.workers.web.forms import form_pages
from patchwright.workers.web.linking.problems import LinkProblem

# The address of a link is a secret.
_REFERRER: Final = "no-referrer"
_PAGES: Final = form_pages("patchwright.workers.web.linking", _REFERRER)
NO_TRACE: Final = {"Cache-Control": "no-store", "Referrer-Policy": _REFERRER}


def link_offer_page(found: LinkRequest, check: str, forge_url: str) -> HTMLResponse:
    return _PAGES.show(
        "offer_link.html",
        sends_to=forge_url,
        actor=_actor_facts(found.actor),
        forge=service_name("github"),
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
    return _PAGES.show("linked.html", actor=_actor_facts(found.actor), person=_actor_facts(person))


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
