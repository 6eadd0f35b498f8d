"""Refuse API tokens in addresses: those stand in histories, logs and referrers."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeAlias

from starlette.responses import JSONResponse

from patchwright.workers.accounts.tokens import TOKEN_PREFIX

_NEEDLE: Final = TOKEN_PREFIX.encode()
# Two bytes that are written as `%XX` would hide it.
_ENCODED: Final = _NEEDLE.replace(b"_", b"%5f")
# https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1: against the rules of the service
_POLICY_VIOLATION: Final = 1008
_WORDS: Final = (
    "An API token never belongs in an address. Revoke it on the page of your account, "
    "make a new one, and send it in the header Authorization: Bearer."
)

_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]
_Send: TypeAlias = Callable[[_Message], Awaitable[None]]
_App: TypeAlias = Callable[[_Message, _Receive, _Send], Awaitable[None]]


class TokenAddressRefusal:
    """Answers such a request before anything else sees it."""

    def __init__(self, app: _App) -> None:
        self._app = app

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        if not _has_token(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            problem = {
                "type": "about:blank",
                "title": "Token in the address",
                "status": 400,
                "detail": _WORDS,
            }
            answer = JSONResponse(problem, 400, media_type="application/problem+json")
            await answer(scope, receive, send)


def _has_token(scope: _Message) -> bool:
    query: bytes = scope.get("query_string", b"").lower()
    return _NEEDLE in query or _ENCODED in query
