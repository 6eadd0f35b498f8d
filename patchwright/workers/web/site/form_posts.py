"""Take a form that somebody sends: who they are, what they may, and its fields."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qs

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool

from patchwright.workers.accounts.principal import Principal, Role
from patchwright.workers.web.body import BodyTooLargeError, read_body
from patchwright.workers.web.frame import Site
from patchwright.workers.web.rate_limit import AttemptLimit

MAX_FORMS: Final = 120
FORMS_PERIOD: Final = timedelta(minutes=10)
_MAX_FORM_BYTES: Final = 64 * 1024


@dataclass(frozen=True)
class FormPost:
    """A form of ours that somebody sent; `word` is its own, the same if sent twice."""

    request: Request
    principal: Principal
    fields: Mapping[str, str]
    word: str

    def field(self, name: str) -> str:
        return self.fields.get(name, "").strip()


@dataclass(frozen=True)
class FormPosts:
    """Checks what all forms have in common, and calls the one that acts.

    `find_principal` may take a while. `limit` counts the forms of each person.
    """

    site: Site
    find_principal: Callable[[Request], Principal | None]
    limit: AttemptLimit

    def on_post(
        self, act: Callable[[FormPost], Response], least: Role = Role.VIEWER
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return an address's function; `act` is called in a thread.

        What `act` says of itself the list of addresses says of this one.
        """

        async def receive(request: Request) -> Response:
            try:
                body = await read_body(request, _MAX_FORM_BYTES)
            except BodyTooLargeError:
                return await run_in_threadpool(self._tell_too_long, request)
            return await run_in_threadpool(self._act, request, body, act, least)

        receive.__doc__ = act.__doc__
        return receive

    def on_get(
        self, show: Callable[[Request, Principal], Response], least: Role = Role.VIEWER
    ) -> Callable[[Request], Response]:
        """Return the function of a page that people with a role may see."""

        def answer(request: Request) -> Response:
            principal = self.find_principal(request)
            if principal is None:
                return self.site.sign_in_first(request)
            if not principal.role.allows(least):
                return self.site.refuse(principal, least)
            return show(request, principal)

        answer.__doc__ = show.__doc__
        return answer

    def _act(
        self,
        request: Request,
        body: bytes,
        act: Callable[[FormPost], Response],
        least: Role,
    ) -> Response:
        principal = self.find_principal(request)
        if principal is None:
            return self.site.show(
                "problem.html",
                None,
                status=401,
                title="Sign in first",
                text="Nothing was changed: nobody is signed in in this browser.",
            )
        if not principal.role.allows(least):
            return self.site.refuse(principal, least)
        parsed = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
        fields = {name: values[0] for name, values in parsed.items()}
        check = fields.pop("check", "")
        word = self.site.form_tokens.word_of(check, principal.key)
        if not word:
            return self.problem(
                principal,
                403,
                "This form does not count any more",
                "Nothing was changed. Go back, load the page again, and send it once "
                "more.",
            )
        if not self.limit.take(principal.key):
            return self.problem(
                principal,
                429,
                "Too many forms",
                "Nothing was changed. Wait ten minutes, and send it again.",
            )
        return act(FormPost(request, principal, fields, word))

    def _tell_too_long(self, request: Request) -> Response:
        principal = self.find_principal(request)
        text = "Nothing was changed: the form is too long."
        return self.problem(principal, 413, "Too long", text)

    def problem(
        self, principal: Principal | None, status: int, title: str, text: str
    ) -> Response:
        """Say what went wrong, and what to do."""
        return self.site.show(
            "problem.html", principal, status=status, title=title, text=text
        )
