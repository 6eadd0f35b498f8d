"""Ask Linear in GraphQL, for one of the workspaces that are served."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, TypeVar
from urllib.parse import urlsplit

import requests
from pydantic import BaseModel, JsonValue, ValidationError

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import (
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.types.threads import TalkThread
from patchwright.integrations.http.limits import (
    CHUNK_BYTES,
    read_limited,
    retry_after_limits,
)
from patchwright.integrations.linear.errors import find_error, translate_errors
from patchwright.integrations.linear.tokens import TIMEOUT_S, LinearTokens
from patchwright.integrations.linear.webhooks.payloads import (
    LinearModel,
    LinearPerson,
    LinearWorkspace,
)

MAX_TRIES: Final = 3
_OK, _REDIRECTED, _BROKEN = 200, 300, 400
_DENIED: Final = frozenset({401, 403})
_MISSING: Final = frozenset({404, 410})
_UPLOADS: Final = "uploads."
_API: Final = "api."
USER_AGENT: Final = "patchwright"

Variables = Mapping[str, JsonValue]
Answer = TypeVar("Answer", bound=BaseModel)

VIEWER_QUERY: Final = """
query Viewer {
  viewer {
    id
    name
    displayName
    app
    organization { id name urlKey }
  }
}
"""


class _OrganizationNode(LinearModel):
    id: str
    name: str = ""
    url_key: str = ""


class _Viewer(LinearPerson):
    organization: _OrganizationNode


class _ViewerAnswer(LinearModel):
    viewer: _Viewer


class LinearClient:
    """Asks as the bot's user or app; any thread may ask."""

    def __init__(self, api_url: str, tokens: LinearTokens, clock: Clock) -> None:
        self.api_url, self.tokens, self.clock = api_url, tokens, clock
        self._identities: dict[str, LinearWorkspace] = {}
        self._lock = threading.Lock()

    def read(
        self, url_key: str, kind: type[Answer], document: str, variables: Variables
    ) -> Answer:
        """Read; asked again where Linear fails, as nothing comes of it."""
        for _ in range(MAX_TRIES - 1):
            try:
                return self.ask(url_key, kind, document, variables)
            except ServiceUnavailableError:
                continue
        return self.ask(url_key, kind, document, variables)

    def ask(
        self, url_key: str, kind: type[Answer], document: str, variables: Variables
    ) -> Answer:
        """Ask once, and again only where nothing was done: for a limit or a token."""
        body = json.dumps({"query": document, "variables": dict(variables)})
        data = retry_after_limits(lambda: self._authorized(url_key, body), self.clock)
        try:
            return kind.model_validate(data)
        except ValidationError as error:
            raise ServiceError("Linear's answer has an unexpected shape") from error

    def identity(self, url_key: str) -> LinearWorkspace:
        """Return the workspace and who we are there; asked once."""
        with self._lock:
            known = self._identities.get(url_key)
        if known is None:
            known = self._fetch_identity(url_key)
            with self._lock:
                self._identities[url_key] = known
        return known

    @contextmanager
    def open(self, url_key: str, url: str) -> Iterator[requests.Response]:
        """Ask for a file with our token; it goes to hosts of Linear's alone."""
        check_host(self.api_url, url)
        auth = _Header(self.tokens.authorization_of(url_key))
        with translate_errors(), requests.Session() as session:
            session.auth = auth
            with session.get(
                url, stream=True, allow_redirects=False, timeout=TIMEOUT_S
            ) as answer:
                yield answer

    def fetch_file(self, url_key: str, url: str, max_bytes: int) -> bytes:
        """Return a file; raises a `ServiceError` of a sentence that says why not."""
        with self.open(url_key, url) as answer:
            status = answer.status_code
            if status in _DENIED or _REDIRECTED <= status < _BROKEN:
                raise PermissionDeniedError("Linear does not allow the bot to read it")
            if status in _MISSING:
                raise NotFoundError(f"Linear answered {status}")
            if status != _OK:
                raise ServiceUnavailableError(f"Linear answered {status}")
            return read_limited(answer.iter_content(CHUNK_BYTES), max_bytes)

    def _fetch_identity(self, url_key: str) -> LinearWorkspace:
        viewer = self.read(url_key, _ViewerAnswer, VIEWER_QUERY, {}).viewer
        return LinearWorkspace(
            id=viewer.organization.id,
            url_key=viewer.organization.url_key,
            name=viewer.organization.name,
            own_id=viewer.id,
            own_name=viewer.display_name or viewer.name,
            is_app=viewer.app,
        )

    def _authorized(self, url_key: str, body: str) -> JsonValue:
        header = self.tokens.authorization_of(url_key)
        try:
            return self._post(header, body)
        except AuthenticationError:
            if not self.tokens.renew(url_key, header):
                raise
        return self._post(self.tokens.authorization_of(url_key), body)

    def _post(self, header: str, body: str) -> JsonValue:
        with translate_errors():
            answer = requests.post(
                f"{self.api_url}/graphql",
                data=body.encode(),
                headers={"Content-Type": "application/json", "User-Agent": USER_AGENT},
                auth=_Header(header),
                timeout=TIMEOUT_S,
                allow_redirects=False,
            )
        try:
            data: JsonValue = answer.json()
        except ValueError:
            data = None
        if error := find_error(answer, data, self.clock.now()):
            raise error
        if not isinstance(data, dict) or not isinstance(data.get("data"), dict):
            raise ServiceError("the server at linear.api_url is not Linear")
        return data["data"]


class _Header(requests.auth.AuthBase):
    """Shows the token; requests would else take credentials from a .netrc file."""

    def __init__(self, header: str) -> None:
        self._header = header

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = self._header
        return request


def check_host(api_url: str, url: str) -> None:
    """Raise `InvalidRequestError` for what is not on Linear's host for files."""
    try:
        parts, api = urlsplit(url), urlsplit(api_url)
    except ValueError as error:
        raise InvalidRequestError("it is not an address") from error
    uploads = f"{_UPLOADS}{api.netloc.removeprefix(_API)}"
    is_here = parts.netloc in (uploads, api.netloc) and parts.scheme == api.scheme
    if not is_here:
        raise InvalidRequestError(f"{parts.hostname or 'it'} is not a host of Linear")


def url_key_of(ref: TalkThread) -> str:
    """Return the workspace of an issue, by its name in addresses."""
    return ref.place.partition("/")[0]
