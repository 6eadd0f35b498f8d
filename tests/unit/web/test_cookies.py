"""A cookie is read by its own kind alone, and only if we made it."""

from datetime import timedelta

from fastapi import Request, Response

from patchwright.workers.web.forms import SignedCookie
from tests.fakes.clock import FakeClock

FACTS = {"login": "alice"}


def cookie(
    name: str = "one", *, secret: bytes = b"secret", secure: bool = False
) -> SignedCookie:
    return SignedCookie(
        name=name,
        path="/",
        life=timedelta(hours=1),
        secret=secret,
        clock=FakeClock(),
        secure=secure,
    )


def made_by(maker: SignedCookie) -> str:
    """Return the header that sets the cookie."""
    response = Response()
    maker.put(response, FACTS)
    return response.headers["set-cookie"]


def sent_as(name: str, header: str) -> Request:
    value = header.partition("=")[2].partition(";")[0]
    sent = [(b"cookie", f"{name}={value}".encode())]
    return Request({"type": "http", "headers": sent})


def test_what_was_put_is_read() -> None:
    assert cookie().read(sent_as("one", made_by(cookie()))) == FACTS


def test_one_kind_does_not_pass_for_another() -> None:
    assert cookie("two").read(sent_as("two", made_by(cookie("one")))) == {}


def test_what_was_signed_with_another_secret_is_nothing() -> None:
    other = cookie(secret=b"other")
    assert cookie().read(sent_as("one", made_by(other))) == {}


def test_over_tls_it_is_kept_from_plain_http() -> None:
    assert "Secure" in made_by(cookie(secure=True))
    assert "Secure" not in made_by(cookie())
