"""Tell who sends a request: by their session, or by the administrator's token."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import Request

from patchwright.core.types.people import Actor
from patchwright.workers.accounts.principal import Principal, Role, SignedInBy
from patchwright.workers.ops.endpoints import has_bearer_token


@dataclass(frozen=True)
class Visitors:
    """Recognizes people by what their requests carry.

    `find_viewer` tells who is signed in in that browser. Without an `admin_token` no
    bearer is the administrator.
    """

    find_viewer: Callable[[Request], Actor | None]
    admin_token: str

    def find(self, request: Request) -> Principal | None:
        """Return who it is, or None; may take a while, as the database may."""
        held = request.headers.get("authorization", "")
        if has_bearer_token(held, self.admin_token):
            by = SignedInBy.ADMIN_TOKEN
            return Principal(name="", role=Role.ADMIN, signed_in_by=by)
        viewer = self.find_viewer(request)
        if viewer is None:
            return None
        return Principal(
            name=viewer.login,
            role=Role.MEMBER,
            signed_in_by=SignedInBy.SESSION,
            identity=viewer,
        )
