"""How Linear says no.

https://linear.app/developers/graphql
"""

from typing import Any

Json = dict[str, Any]


class RefusedError(Exception):
    """An error of GraphQL; `status` is of the whole answer if nothing was done."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "INPUT_ERROR",
        kind: str = "invalid input",
        status: int = 400,
        shown: str = "",
        **more: Any,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.extensions: Json = {
            "type": kind,
            "code": code,
            "statusCode": status,
            "userError": True,
            "userPresentableMessage": shown or message,
            "meta": {},
            **more,
        }

    def body(self) -> Json:
        """Return the answer to a request that was refused as a whole."""
        return {"errors": [{"message": str(self), "extensions": self.extensions}]}


def not_found(kind: str) -> RefusedError:
    return RefusedError(
        f"Entity not found: {kind}", shown=f"Could not find referenced {kind}."
    )


def invalid(field: str, constraint: str) -> RefusedError:
    """Refuse the value of one field of an input."""
    return RefusedError(
        "Argument Validation Error",
        code="INVALID_INPUT",
        shown=f"{field}: {constraint}",
        validationErrors=[{"property": field, "constraints": {"value": constraint}}],
    )


def forbidden(words: str) -> RefusedError:
    return RefusedError(words, code="FORBIDDEN", kind="forbidden", status=403)


def unauthenticated(words: str = "") -> RefusedError:
    return RefusedError(
        words or "Authentication required, not authenticated",
        code="AUTHENTICATION_ERROR",
        kind="authentication error",
        status=401,
        shown="You need to authenticate to access this operation.",
    )
