"""The page of one's own account: identities, sessions and API tokens."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import AccountId
from patchwright.integrations.registry import service_title
from patchwright.workers.accounts.directory import People, Unlinking
from patchwright.workers.accounts.principal import Principal, SignedInBy
from patchwright.workers.accounts.roles import Account, Identity
from patchwright.workers.accounts.sessions import Session, SessionStore
from patchwright.workers.accounts.tokens import (
    LIVES_DAYS,
    MAX_NAME_CHARS,
    MAX_TOKENS,
    ApiTokenStore,
    NewToken,
    Scope,
    scopes_for,
)
from patchwright.workers.store.audit import AuditAction, AuditLog
from patchwright.workers.web.frame import Site
from patchwright.workers.web.site.form_posts import FormPost, FormPosts

ACCOUNT_PATH: Final = "/account"
_SEE_OTHER: Final = 303
# What the page says after something was done, by the word in its address.
_DONE: Final[Mapping[str, str]] = {
    "added": "The identity was added.",
    "unlinked": "The identity was removed.",
    "ended": "The session was ended.",
    "all-ended": "You are signed out everywhere else.",
    "revoked": "The token was revoked. It works no more.",
}
_KEPT: Final[Mapping[Unlinking, str]] = {
    Unlinking.DONE: "",
    Unlinking.UNKNOWN: "Your account has no such identity. It may have been removed "
    "already.",
    Unlinking.LAST: "It is the only one of your account: you could not sign in again.",
    Unlinking.VIEWER: "Ask an admin to remove it.",
}


@dataclass(frozen=True)
class AccountPages:
    """`ways` are where one can sign in: the service by its name, and its title.

    `find_session` returns the session of a request, `adding_url` where somebody adds an
    identity, by the way and a form token. `hosts` are where the services of `ways` are.
    """

    site: Site
    posts: FormPosts
    people: People
    sessions: SessionStore
    tokens: ApiTokenStore
    audit: AuditLog
    clock: Clock
    ways: Mapping[str, str]
    hosts: Mapping[str, str]
    find_session: Callable[[Request], Session | None]
    adding_url: Callable[[str, str], str]

    def title_of(self, service: str) -> str:
        """Return what people call a service at which somebody has an identity."""
        return self.ways.get(service) or service_title(service)


def add_account_pages(app: FastAPI, pages: AccountPages) -> None:
    posts = pages.posts

    def show(request: Request, principal: Principal) -> Response:
        """Show one's own account: identities, sessions and API tokens."""
        done = _DONE.get(request.query_params.get("done", ""), "")
        return _show(pages, request, principal, done=done)

    app.get(ACCOUNT_PATH, include_in_schema=False)(posts.on_get(show))
    for path, act in (
        ("tokens", _make_token),
        ("tokens/revoke", _revoke_token),
        ("sessions/end", _end_session),
        ("sessions/end-all", _end_all_sessions),
        ("identities/unlink", _unlink),
    ):
        _add(app, pages, f"{ACCOUNT_PATH}/{path}", act)


_Act = Callable[[AccountPages, FormPost, AccountId], Response]


def _add(app: FastAPI, pages: AccountPages, path: str, act: _Act) -> None:
    def on_post(post: FormPost) -> Response:
        account_id = _own_account(post.principal)
        if account_id is None:
            return pages.posts.problem(
                post.principal,
                403,
                "Sign in with a browser",
                "Nothing was changed: an account is changed on its page, by somebody "
                "who is signed in there. No token does that.",
            )
        return act(pages, post, account_id)

    on_post.__doc__ = act.__doc__
    app.post(path, include_in_schema=False)(pages.posts.on_post(on_post))


def _own_account(principal: Principal) -> AccountId | None:
    """Return the account; a token that leaks must not make further ones."""
    is_session = principal.signed_in_by is SignedInBy.SESSION
    return principal.account_id if is_session else None


def _make_token(pages: AccountPages, post: FormPost, account_id: AccountId) -> Response:
    """Make an API token, and show it once."""
    new = _read_new_token(post)
    if isinstance(new, str):
        return _show(pages, post.request, post.principal, problem=new, status=422)
    word = pages.tokens.make(account_id, new, post.principal.key)
    if word is None:
        text = f"You have {MAX_TOKENS} tokens, which is the limit. Revoke one first."
        return _show(pages, post.request, post.principal, problem=text, status=409)
    return _show(pages, post.request, post.principal, new_token=word, new_name=new.name)


def _read_new_token(post: FormPost) -> NewToken | str:
    """Return which token is wanted, or a sentence that says what is wrong."""
    name, scope, days = post.field("name"), post.field("scope"), post.field("days")
    if not name or len(name) > MAX_NAME_CHARS:
        return f"Give the token a name of at most {MAX_NAME_CHARS} characters."
    allowed = scopes_for(post.principal.role)
    if scope not in allowed:
        names = ", ".join(allowed)
        return f"Your role allows tokens with these scopes: {names}."
    if days not in map(str, LIVES_DAYS):
        choices = ", ".join(map(str, LIVES_DAYS))
        return f"A token lasts for one of these numbers of days: {choices}."
    return NewToken(name=name, scope=Scope(scope), life_days=int(days))


def _revoke_token(
    pages: AccountPages, post: FormPost, account_id: AccountId
) -> Response:
    """Revoke an API token."""
    if not pages.tokens.revoke(post.field("id"), account_id, post.principal.key):
        text = "You have no such token. It may have been revoked already."
        return _show(pages, post.request, post.principal, problem=text, status=404)
    return _done(pages, "revoked")


def _end_session(
    pages: AccountPages, post: FormPost, account_id: AccountId
) -> Response:
    """End a session of one's own."""
    if not pages.sessions.end(post.field("id"), account_id):
        text = "You have no such session. It may have ended already."
        return _show(pages, post.request, post.principal, problem=text, status=404)
    _note_ended(pages, post)
    return _done(pages, "ended")


def _end_all_sessions(
    pages: AccountPages, post: FormPost, account_id: AccountId
) -> Response:
    """Sign out everywhere else."""
    pages.sessions.end_all(account_id, but=post.field("but"))
    _note_ended(pages, post)
    return _done(pages, "all-ended")


def _note_ended(pages: AccountPages, post: FormPost) -> None:
    key = post.principal.key
    pages.audit.note(
        AuditAction.SESSIONS_ENDED,
        by=key,
        account_id=post.principal.account_id or "",
        about=key,
    )


def _unlink(pages: AccountPages, post: FormPost, account_id: AccountId) -> Response:
    """Remove an identity from one's own account."""
    result = pages.people.unlink(account_id, post.field("id"), post.principal)
    if result is not Unlinking.DONE:
        text = f"The identity was not removed. {_KEPT[result]}"
        status = 404 if result is Unlinking.UNKNOWN else 409
        return _show(pages, post.request, post.principal, problem=text, status=status)
    return _done(pages, "unlinked")


def _done(pages: AccountPages, word: str) -> Response:
    place = f"{pages.site.prefix}{ACCOUNT_PATH}?done={word}"
    return RedirectResponse(place, _SEE_OTHER, {"Cache-Control": "no-store"})


def _show(
    pages: AccountPages,
    request: Request,
    principal: Principal,
    *,
    done: str = "",
    problem: str = "",
    new_token: str = "",
    new_name: str = "",
    status: int = 200,
) -> Response:
    account_id = principal.account_id
    account = pages.people.find(account_id) if account_id else None
    if account is None:
        return pages.posts.problem(
            principal,
            403,
            "There is no account",
            "The administrator's token has no account. Sign in with a browser.",
        )
    current = pages.find_session(request)
    return pages.site.show(
        "account.html",
        principal,
        status=status,
        active=ACCOUNT_PATH,
        current=current.id if current else "",
        done=done,
        problem=problem,
        new_token=new_token,
        new_name=new_name,
        **_account_facts(pages, principal, account),
    )


def _account_facts(
    pages: AccountPages, principal: Principal, account: Account
) -> dict[str, object]:
    return {
        "account": account,
        "identities": [_identity_facts(pages, one) for one in account.identities],
        "addable": _addable(pages, principal, account),
        "lacks_forge": principal.identity is None,
        "forge_title": pages.ways.get(pages.people.forge, ""),
        "sessions": pages.sessions.of_account(account.id),
        "title_of": pages.title_of,
        "tokens": pages.tokens.of_account(account.id),
        "scopes": scopes_for(principal.role),
        "lives_days": LIVES_DAYS,
        "max_name": MAX_NAME_CHARS,
        "now": pages.clock.now(),
    }


def _identity_facts(pages: AccountPages, one: Identity) -> dict[str, str]:
    place = one.host if one.is_of_provider else ""
    return {
        "id": one.id,
        "service": pages.title_of(one.service),
        "login": one.login,
        "email": one.email,
        "place": place,
    }


def _addable(
    pages: AccountPages, principal: Principal, account: Account
) -> list[tuple[str, str]]:
    """Return the title and address of each way that the account does not have."""
    return [
        (title, pages.adding_url(way, pages.site.form_tokens.new(principal.key)))
        for way, title in pages.ways.items()
        if account.identity_at(way, pages.hosts[way]) is None
    ]
