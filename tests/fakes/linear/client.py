"""A program that speaks to the fake with nothing but HTTP, as tests of it need."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx

from tests.fakes.linear.exchange import Json
from tests.fakes.linear.fake import FakeLinear

NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Reply:
    """An answer of the API; `data` is empty where nothing was done."""

    status: int
    data: Json
    errors: list[Json]
    headers: httpx.Headers

    @property
    def code(self) -> str:
        """Return the code of the one error."""
        [error] = self.errors
        return str(error["extensions"]["code"])

    @property
    def words(self) -> str:
        """Return what the one error tells people."""
        [error] = self.errors
        return str(error["extensions"]["userPresentableMessage"])


@dataclass(frozen=True)
class Program:
    """Asks as whoever `authorization` belongs to."""

    url: str
    authorization: str

    def ask(self, document: str, **variables: Any) -> Reply:
        headers = {
            "Authorization": self.authorization,
            "Content-Type": "application/json",
        }
        asked = {"query": document, "variables": variables}
        status, shown, found = send(
            "POST", f"{self.url}/graphql", json.dumps(asked), headers
        )
        body = json.loads(found)
        return Reply(status, body.get("data") or {}, body.get("errors", []), shown)

    def change(self, field: str, asked: Json, shown: str = "success") -> Reply:
        """Call a mutation that takes an input alone."""
        kind = f"{field[0].upper()}{field[1:]}Input!"
        return self.ask(
            f"mutation($input: {kind}) {{ {field}(input: $input) {{ {shown} }} }}",
            input=asked,
        )


def of_app(fake: FakeLinear) -> Program:
    return Program(fake.api_url, f"Bearer {fake.token.access}")


def of_person(fake: FakeLinear, user: str) -> Program:
    """Return a program of a person's own, with their personal key."""
    return Program(fake.api_url, fake.scene.key_of(user))


def sign_in(fake: FakeLinear, form: Json, **more: str) -> tuple[int, Json]:
    """Ask the token endpoint as our app; return status and answer."""
    app = fake.app
    asked = {"client_id": app.client_id, "client_secret": app.client_secret, **form}
    return post_form(f"{fake.api_url}/oauth/token", asked | more)


def post_form(url: str, form: Mapping[str, str]) -> tuple[int, Json]:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    status, _, body = send("POST", url, urlencode(form), headers)
    return status, json.loads(body)


def send(
    method: str, url: str, body: str | bytes = "", headers: Mapping[str, str] = NOTHING
) -> tuple[int, httpx.Headers, bytes]:
    """Send one request on a connection of its own, and follow no way elsewhere."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    try:
        path = f"{parts.path}{'?' if parts.query else ''}{parts.query}"
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        return answer.status, httpx.Headers(answer.getheaders()), answer.read()
    finally:
        connection.close()
