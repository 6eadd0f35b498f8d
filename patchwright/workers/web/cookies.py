"""Cookies that only we can have made, and only lately."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import jwt
from fastapi import Request, Response
from jwt.types import Options

from patchwright.core.system.clock import Clock

_ALGORITHM: Final = "HS256"
# The times are judged by our own clock.
_UNTIMED: Final[Options] = {
    "require": ["exp"],
    "verify_exp": False,
    "verify_iat": False,
}


@dataclass(frozen=True)
class SignedCookie:
    """One kind of cookie: its name, who gets it sent back, and how long it counts.

    The browser sends it along when somebody follows a link to us, and no script reads
    it. `secure` keeps it off plain HTTP.
    """

    name: str
    path: str
    life: timedelta
    secret: bytes
    clock: Clock
    secure: bool

    def put(self, response: Response, facts: Mapping[str, str]) -> None:
        expires_at = self.clock.now() + self.life
        text = jwt.encode(
            {**facts, "exp": int(expires_at.timestamp())}, self._key(), _ALGORITHM
        )
        response.set_cookie(
            self.name,
            text,
            max_age=int(self.life.total_seconds()),
            path=self.path,
            secure=self.secure,
            httponly=True,
            samesite="lax",
        )

    def read(self, request: Request) -> Mapping[str, str]:
        """Return the facts, none of them if the cookie is missing, old or not ours."""
        try:
            claims = jwt.decode(
                request.cookies.get(self.name, ""),
                self._key(),
                [_ALGORITHM],
                options=_UNTIMED,
            )
        except jwt.InvalidTokenError:
            return {}
        expires_at = claims.pop("exp")
        if not isinstance(expires_at, int) or expires_at <= self._now():
            return {}
        return {name: str(value) for name, value in claims.items()}

    def drop(self, response: Response) -> None:
        response.delete_cookie(
            self.name,
            path=self.path,
            secure=self.secure,
            httponly=True,
            samesite="lax",
        )

    def _key(self) -> bytes:
        # Every kind has a key of its own, so that none passes for another.
        return hmac.digest(self.secret, f"cookie {self.name}".encode(), "sha256")

    def _now(self) -> float:
        return self.clock.now().timestamp()
