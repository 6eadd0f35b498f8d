"""What every page for administrators checks before it shows or does anything."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool

from patchwright.workers.accounts.principal import Principal, Role
from patchwright.workers.web.body import BodyTooLargeError, read_body
from patchwright.workers.web.site.frame import Site

_MAX_FORM_BYTES: Final = 16_384
_NOT_OURS: Final = "This form has expired. Reload the page, and send it again."
_TOO_LARGE: Final = "The form is too large. Reload the page, and send it again."


@dataclass(frozen=True)
class AdminPages:
    """Lets administrators in, and nobody else.

    `find_principal` may take a while, as the database may.
    """

    site: Site
    find_principal: Callable[[Request], Principal | None]

    def admit(self, request: Request) -> Principal | Response:
        """Return the administrator, or the page that says why somebody is none."""
        principal = self.find_principal(request)
        if principal is None:
            return self.site.sign_in_first(request)
        if not principal.is_admin:
            return self.site.refuse(principal, Role.ADMIN)
        return principal

    async def read_form(
        self, request: Request
    ) -> tuple[Principal, Mapping[str, str]] | Response:
        """Return who has sent a form of ours, and its fields; else what to answer."""
        admitted = await run_in_threadpool(self.admit, request)
        if isinstance(admitted, Response):
            return admitted
        try:
            body = await read_body(request, _MAX_FORM_BYTES)
        except BodyTooLargeError:
            return self._problem(admitted, _TOO_LARGE, 413)
        fields = {
            name: values[0]
            for name, values in parse_qs(body.decode("utf-8", "replace")).items()
        }
        is_ours = self.site.form_tokens.word_of(fields.get("check", ""), admitted.key)
        if not is_ours:
            return self._problem(admitted, _NOT_OURS, 403)
        return admitted, fields

    def _problem(self, principal: Principal, problem: str, status: int) -> Response:
        return self.site.show("problem.html", principal, status=status, problem=problem)
