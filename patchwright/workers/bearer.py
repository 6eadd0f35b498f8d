"""Whether a request brings a token."""

import hmac
from typing import Final

_SCHEME: Final = "bearer"


def has_bearer_token(authorization: str, token: str) -> bool:
    """Judge by the header of that name; an empty token is brought by nobody.

    https://www.rfc-editor.org/rfc/rfc6750#section-2.1
    """
    scheme, _, brought = authorization.partition(" ")
    is_same = hmac.compare_digest(brought.strip().encode(), token.encode())
    return bool(token) and scheme.lower() == _SCHEME and is_same
