"""Tell who asks: somebody with a key of their own, or an app with a token."""

from dataclasses import dataclass

from tests.fakes.github.exchange import Request
from tests.fakes.linear.exchange import RefusedError, forbidden, unauthenticated
from tests.fakes.linear.state import Token, User, World

# What a scope allows besides itself.
_IMPLIED = {
    "write": frozenset({"comments:create", "issues:create"}),
    "admin": frozenset({"write", "comments:create", "issues:create"}),
}


@dataclass(frozen=True, kw_only=True)
class Caller:
    """`token` is None for a personal key, which may do what its person may."""

    user: User
    token: Token | None = None

    @property
    def name(self) -> str:
        """Whose requests are counted."""
        return self.token.access if self.token else self.user.id

    def need(self, *scopes: str) -> None:
        """Refuse an app that was given none of these scopes."""
        if self.token is None:
            return
        given = set(self.token.scopes)
        for scope in self.token.scopes:
            given |= _IMPLIED.get(scope, frozenset())
        if not given & set(scopes):
            raise forbidden(f"Invalid scope: `{'` or `'.join(scopes)}` required")

    @property
    def is_app(self) -> bool:
        return self.token is not None and self.token.is_app


def identify(world: World, request: Request) -> Caller:
    """Return who asks; raise a refusal of whoever is not known.

    https://linear.app/developers/graphql
    """
    sent = request.headers.get("authorization", "")
    kind, _, token = sent.partition(" ")
    if kind.lower() != "bearer":
        return Caller(user=_by_key(world, sent))
    for one in world.tokens:
        if one.access == token:
            if one.revoked or one.expires <= world.clock.now():
                raise unauthenticated()
            return Caller(user=world.get(User, one.user), token=one)
    if any(one.api_key == token for one in world.all(User)):
        words = "Remove the Bearer prefix from the Authorization header"
        raise RefusedError(
            f"It looks like you're trying to use an API key as a Bearer token. {words}",
            code="AUTHENTICATION_ERROR",
            kind="authentication error",
        )
    raise unauthenticated()


def _by_key(world: World, key: str) -> User:
    if key:
        for one in world.all(User):
            if one.api_key == key and one.active:
                return one
    raise unauthenticated()
