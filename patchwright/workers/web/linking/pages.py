"""The pages that a person sees who is linked."""

import secrets
from typing import Final

from fastapi.responses import HTMLResponse
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from patchwright.core.types.people import Actor
from patchwright.workers.linking.names import place_name, service_name, shown_name
from patchwright.workers.store.link_rows import LinkRequest
from patchwright.workers.web.forms import form_policy
from patchwright.workers.web.linking.problems import Problem

# The layout is that of the set-up pages.
_PAGES: Final = Environment(
    loader=ChoiceLoader(
        (
            PackageLoader("patchwright.workers.web.linking"),
            PackageLoader("patchwright.workers.web.setup"),
        )
    ),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def offer_page(found: LinkRequest, check: str, forge_url: str) -> HTMLResponse:
    return _page(
        "offer_link.html",
        sends_to=forge_url,
        actor=_shown(found.actor),
        forge=service_name("github"),
        until=found.expires_at,
        check=check,
    )


def confirm_page(
    found: LinkRequest, person: Actor, before: Actor | None, check: str
) -> HTMLResponse:
    replaces = before is not None and before.external_id != person.external_id
    return _page(
        "confirm_link.html",
        actor=_shown(found.actor),
        person=_shown(person),
        before=_shown(before) if before and replaces else None,
        check=check,
    )


def done_page(found: LinkRequest, person: Actor) -> HTMLResponse:
    return _page("linked.html", actor=_shown(found.actor), person=_shown(person))


def problem_page(problem: Problem) -> HTMLResponse:
    words = problem.value
    return _page("link_problem.html", status=words.status, problem=words)


def _shown(actor: Actor) -> dict[str, str]:
    return {
        "name": shown_name(actor),
        "id": actor.external_id,
        "service": service_name(actor.service),
        "place": place_name(actor),
    }


def _page(
    name: str, *, status: int = 200, sends_to: str = "", **facts: object
) -> HTMLResponse:
    """Show a template; what is sent from it may lead to that one other address."""
    nonce = secrets.token_urlsafe(16)
    text = _PAGES.get_template(name).render(nonce=nonce, **facts)
    return HTMLResponse(text, status, _headers(nonce, sends_to))


def _headers(nonce: str, sends_to: str) -> dict[str, str]:
    return {
        "Content-Security-Policy": form_policy(nonce, sends_to),
        **NO_TRACE,
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex, nofollow",
    }


# The address of a link is a secret.
NO_TRACE: Final = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
