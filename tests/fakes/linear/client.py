"""A program that speaks to the fake with nothing but HTTP, as tests of it need."""

from dataclasses import dataclass
from typing import Any

import httpx

from tests.fakes.linear.exchange import Json
from tests.fakes.linear.fake import FakeLinear


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
        answer = httpx.post(
            f"{self.url}/graphql",
            json={"query": document, "variables": variables},
            headers={"Authorization": self.authorization},
        )
        body = answer.json()
        return Reply(
            answer.status_code,
            body.get("data") or {},
            body.get("errors", []),
            answer.headers,
        )

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


def sign_in(fake: FakeLinear, form: Json, **more: str) -> httpx.Response:
    """Ask the token endpoint as our app."""
    app = fake.app
    asked = {"client_id": app.client_id, "client_secret": app.client_secret, **form}
    return httpx.post(f"{fake.api_url}/oauth/token", data=asked | more)
