"""Who is signed in, told from the request alone."""

from datetime import timedelta
from typing import Final

from fastapi import Request, Response

from patchwright.core.clock import Clock
from patchwright.core.types.people import Actor
from patchwright.workers.web.cookies import SignedCookie

_LIFE: Final = timedelta(hours=12)


class Sessions:
    """Keeps who somebody is in a cookie; nothing of it is stored on our side."""

    def __init__(self, secret: bytes, clock: Clock, *, secure: bool) -> None:
        self._cookie = SignedCookie(
            name="patchwright_session",
            path="/",
            life=_LIFE,
            secret=secret,
            clock=clock,
            secure=secure,
        )

    def viewer_of(self, request: Request) -> Actor | None:
        """Return who is signed in, or None."""
        facts = self._cookie.read(request)
        service, login = facts.get("service"), facts.get("login")
        if not service or not login:
            return None
        return Actor(service=service, login=login, external_id=facts.get("id", ""))

    def begin(self, response: Response, viewer: Actor) -> None:
        facts = {
            "service": viewer.service,
            "login": viewer.login,
            "id": viewer.external_id,
        }
        self._cookie.put(response, facts)

    def end(self, response: Response) -> None:
        self._cookie.drop(response)
