"""The page of all people, for admins: roles, identities and sessions."""

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from patchwright.core.types.base import AccountId
from patchwright.integrations.registry import service_title
from patchwright.workers.accounts.directory import People, Unlinking
from patchwright.workers.accounts.principal import Principal, Role, SignedInBy
from patchwright.workers.accounts.roles import Account
from patchwright.workers.accounts.sessions import SessionStore
from patchwright.workers.store.audit import AuditAction, AuditLog
from patchwright.workers.web.frame import Site
from patchwright.workers.web.rate_limit import AttemptLimit
from patchwright.workers.web.site.form_posts import FormPost, FormPosts

PEOPLE_PATH: Final = "/people"
MAX_WRONG_TOKENS: Final = 10
WRONG_TOKENS_PERIOD: Final = timedelta(minutes=15)
_MAX_SHOWN: Final = 200
_SEE_OTHER: Final = 303
_DONE: Final[Mapping[str, str]] = {
    "role": "The role was changed.",
    "ended": "All sessions of that person were ended.",
    "unlinked": "The identity was removed.",
    "admin": "You are an admin now.",
}


@dataclass(frozen=True)
class PeoplePages:
    """With an `admin_token` somebody who knows it can become an admin there.

    `wrong_tokens` counts the tries that were wrong.
    """

    site: Site
    posts: FormPosts
    people: People
    sessions: SessionStore
    audit: AuditLog
    admin_token: str
    wrong_tokens: AttemptLimit


def add_people_pages(app: FastAPI, pages: PeoplePages) -> None:
    posts = pages.posts

    def show(request: Request, principal: Principal) -> Response:
        """Show admins all people."""
        if not principal.is_admin:
            return _show_closed(pages, principal)
        query = request.query_params
        return _show(
            pages,
            principal,
            name=query.get("name", "")[:100],
            done=_DONE.get(query.get("done", ""), ""),
        )

    app.get(PEOPLE_PATH, include_in_schema=False)(posts.on_get(show))
    for path, act in (
        ("role", _set_role),
        ("sessions/end", _end_sessions),
        ("identities/unlink", _unlink),
    ):
        _add(app, pages, f"{PEOPLE_PATH}/{path}", act, Role.ADMIN)
    _add(app, pages, f"{PEOPLE_PATH}/become-admin", _become_admin, Role.VIEWER)


_Act = Callable[[PeoplePages, FormPost], Response]


def _add(app: FastAPI, pages: PeoplePages, path: str, act: _Act, least: Role) -> None:
    def on_post(post: FormPost) -> Response:
        return act(pages, post)

    on_post.__doc__ = act.__doc__
    app.post(path, include_in_schema=False)(pages.posts.on_post(on_post, least))


def _set_role(pages: PeoplePages, post: FormPost) -> Response:
    """Change the role of a person."""
    account_id, role = AccountId(post.field("account")), post.field("role")
    if role not in list(Role):
        return _show(
            pages, post.principal, problem="There is no such role.", status=422
        )
    if account_id == post.principal.account_id and role != Role.ADMIN:
        # Otherwise the last admin could leave nobody behind.
        text = "You cannot take the role of an admin from yourself. Ask another admin."
        return _show(pages, post.principal, problem=text, status=409)
    if not pages.people.set_role(account_id, Role(role), post.principal.key):
        return _unknown(pages, post)
    return _done(pages, post, "role")


def _end_sessions(pages: PeoplePages, post: FormPost) -> Response:
    """End all sessions of a person."""
    account_id = AccountId(post.field("account"))
    if pages.people.find(account_id) is None:
        return _unknown(pages, post)
    pages.sessions.end_all(account_id)
    pages.audit.note(
        AuditAction.SESSIONS_ENDED,
        by=post.principal.key,
        account_id=account_id,
        about=f"account:{account_id}",
    )
    return _done(pages, post, "ended")


def _unlink(pages: PeoplePages, post: FormPost) -> Response:
    """Remove an identity from a person's account."""
    account_id = AccountId(post.field("account"))
    if pages.people.find(account_id) is None:
        return _unknown(pages, post)
    result = pages.people.unlink(account_id, post.field("id"), post.principal)
    if result is Unlinking.UNKNOWN:
        text = "That person has no such identity. It may have been removed already."
        return _show(pages, post.principal, problem=text, status=404)
    return _done(pages, post, "unlinked")


def _unknown(pages: PeoplePages, post: FormPost) -> Response:
    text = "There is no such person. Two accounts may have become one."
    return _show(pages, post.principal, problem=text, status=404)


def _become_admin(pages: PeoplePages, post: FormPost) -> Response:
    """Make a person with the administrator's token an admin."""
    principal = post.principal
    is_person = principal.signed_in_by is SignedInBy.SESSION
    if not pages.admin_token or not is_person or principal.account_id is None:
        return pages.site.refuse(principal, Role.ADMIN)
    if not pages.wrong_tokens.has_room(principal.key):
        text = "There were too many wrong tokens. Try again in 15 minutes."
        return _show_closed(pages, principal, problem=text, status=429)
    given, known = post.field("token").encode(), pages.admin_token.encode()
    if not hmac.compare_digest(given, known):
        pages.wrong_tokens.take(principal.key)
        text = "That is not the administrator's token."
        return _show_closed(pages, principal, problem=text, status=403)
    pages.people.set_role(principal.account_id, Role.ADMIN, "administrator's token")
    return _done(pages, post, "admin")


def _done(pages: PeoplePages, post: FormPost, word: str) -> Response:
    name = post.field("name")
    query = f"done={word}" + (f"&name={quote(name, safe='')}" if name else "")
    place = f"{pages.site.prefix}{PEOPLE_PATH}?{query}"
    return RedirectResponse(place, _SEE_OTHER, {"Cache-Control": "no-store"})


def _show_closed(
    pages: PeoplePages, principal: Principal, *, problem: str = "", status: int = 403
) -> Response:
    if not pages.admin_token or principal.signed_in_by is not SignedInBy.SESSION:
        return pages.site.refuse(principal, Role.ADMIN)
    return pages.site.show(
        "become_admin.html", principal, status=status, problem=problem
    )


def _show(
    pages: PeoplePages,
    principal: Principal,
    *,
    name: str = "",
    done: str = "",
    problem: str = "",
    status: int = 200,
) -> Response:
    found = pages.people.find_all(name)
    return pages.site.show(
        "people.html",
        principal,
        status=status,
        active=PEOPLE_PATH,
        people=[_facts(one) for one in found[:_MAX_SHOWN]],
        hidden_count=max(0, len(found) - _MAX_SHOWN),
        roles=list(Role),
        name=name,
        done=done,
        problem=problem,
    )


def _facts(account: Account) -> dict[str, object]:
    return {
        "id": account.id,
        "name": account.name,
        "role": account.role,
        "is_fixed": account.role is not account.given.role,
        "identities": [
            {
                "id": one.id,
                "service": service_title(one.service),
                "login": one.login,
                "email": one.email,
            }
            for one in account.identities
        ],
    }
