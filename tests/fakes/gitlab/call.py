"""One authenticated call to the API, as its endpoint sees it."""

import email.parser
import email.policy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

from tests.fakes.github.exchange import Answer, Request
from tests.fakes.gitlab.access import (
    missing_project,
    require,
    sees,
    sees_thread,
)
from tests.fakes.gitlab.auth import READS, Caller
from tests.fakes.gitlab.exchange import (
    Json,
    RefusedError,
    not_found,
    refused,
    unauthorized,
)
from tests.fakes.gitlab.state import Level, Project, User, World
from tests.fakes.gitlab.thread_state import Thread, ThreadKind

MAX_PAGE = 100
DEFAULT_PAGE = 20
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class File:
    """A file of a form."""

    name: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request with its caller, and the parts of its path by name."""

    world: World
    caller: Caller
    request: Request
    args: Mapping[str, str]

    def user(self) -> User:
        """Return who acts; nobody does without a credential."""
        if self.caller.user is None:
            raise unauthorized()
        return self.caller.user

    def number(self, name: str) -> int:
        if not self.args[name].isdecimal():
            raise RefusedError(400, {"error": f"{name} is invalid"})
        return int(self.args[name])

    def project(self, level: Level = Level.NONE) -> Project:
        """Return the path's project; 404 if it's hidden, 403 without the level.

        One that has moved is found under its number: who reads is sent there.
        """
        wanted = self.args["id"]
        found = self._find(wanted)
        if found is None or not sees(self.world, found, self.caller.user):
            raise missing_project()
        if not wanted.isdecimal() and found.path.lower() != wanted.lower():
            self._redirect(wanted, found)
        if level > Level.NONE:
            require(self.world, self.caller, found, level)
        return found

    def thread(self, kind: ThreadKind) -> Thread:
        found = self.world.find_thread(self.project().id, kind, self.number("iid"))
        if found is None:
            raise not_found()
        project = self.world.projects[found.project]
        if not sees_thread(self.world, project, found, self.caller):
            raise not_found()
        return found

    def _find(self, wanted: str) -> Project | None:
        if wanted.isdecimal():
            return self.world.projects.get(int(wanted))
        found = self.world.find_project(wanted)
        moved = self.world.moved.get(wanted.lower())
        return found or (self.world.projects[moved] if moved else None)

    def _redirect(self, wanted: str, project: Project) -> None:
        if self.request.method not in READS:
            problem = "Non GET methods are not allowed for moved projects"
            raise refused(405, problem)
        old = f"/projects/{wanted.replace('/', '%2F')}"
        rest = self.request.path[len(old) :]
        query = f"?{urlencode(self.request.query)}" if self.request.query else ""
        url = f"{self.world.base_url}/api/v4/projects/{project.id}{rest}{query}"
        body = {"message": "301 Moved Permanently"}
        raise RefusedError(301, body, {"Location": url})

    def body(self) -> Json:
        """Return what was sent: JSON, or a form whose lists end in `[]`."""
        kind = self.request.headers.get("content-type", "")
        if kind.startswith("multipart/"):
            return self._read_multipart(kind)
        if kind.startswith(_FORM):
            return _nested(parse_qsl(self.request.body.decode(), True))
        try:
            parsed = self.request.json()
        except Exception as problem:
            raise RefusedError(400, {"error": "invalid json"}) from problem
        return {**self.request.query, **parsed}

    def _read_multipart(self, kind: str) -> Json:
        head = f"Content-Type: {kind}\r\n\r\n".encode()
        parser = email.parser.BytesParser(policy=email.policy.HTTP)
        message = parser.parsebytes(head + self.request.body)
        found: Json = {}
        for part in message.iter_parts():
            name = str(part.get_param("name", header="content-disposition"))
            data = part.get_payload(decode=True)
            content = data if isinstance(data, bytes) else b""
            file = part.get_filename()
            found[name] = File(file, content) if file else content.decode()
        return found

    def flag(self, name: str) -> bool:
        return self.request.query.get(name, "").lower() in {"true", "1"}


def _nested(pairs: Sequence[tuple[str, str]]) -> Json:
    found: Json = {}
    for name, value in pairs:
        if name.endswith("[]"):
            found.setdefault(name.removesuffix("[]"), []).append(value)
        elif name.endswith("]") and "[" in name:
            outer, _, inner = name.removesuffix("]").partition("[")
            found.setdefault(outer, {})[inner] = value
        else:
            found[name] = value
    return found


Endpoint = Callable[[Call], Answer]


@dataclass(frozen=True)
class Route:
    """`template` is written as in GitLab's documentation, without `/api/v4`.

    One that waits for another program does so without the world's lock.
    """

    method: str
    template: str
    endpoint: Endpoint
    holds_lock: bool = True


def page_span(call: Call) -> tuple[int, int]:
    """Return page number and size; sizes over 100 count as 100."""
    size = _positive(call.request.query.get("per_page"), DEFAULT_PAGE)
    return _positive(call.request.query.get("page"), 1), min(size, MAX_PAGE)


def paged(call: Call, items: Sequence[Any]) -> Answer:
    """Answer with one page, and with the numbers and addresses of the others.

    https://docs.gitlab.com/api/rest/#pagination
    """
    page, size = page_span(call)
    last = max(1, -(-len(items) // size))
    part = list(items[(page - 1) * size : page * size])
    links = {"first": 1, "last": last}
    if page > 1:
        links["prev"] = page - 1
    if page < last:
        links["next"] = page + 1
    headers = {
        "Link": ", ".join(
            f'<{address(call, page=at)}>; rel="{rel}"' for rel, at in links.items()
        ),
        "X-Next-Page": str(links.get("next", "")),
        "X-Page": str(page),
        "X-Per-Page": str(size),
        "X-Prev-Page": str(links.get("prev", "")),
        "X-Total": str(len(items)),
        "X-Total-Pages": str(last),
    }
    return Answer(status=200, body=part, headers=headers)


def address(call: Call, **query: object) -> str:
    """Return the address of the call itself, with these parts of the query changed."""
    changed = urlencode({**call.request.query, **query})
    return f"{call.world.base_url}/api/v4{call.request.path}?{changed}"


def _positive(text: str | None, default: int) -> int:
    if text is None or not text.isdecimal():
        return default
    return max(1, int(text))


def as_list(value: object) -> list[str]:
    """Read a list that may come as one text with commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list):
        return [str(part) for part in value]
    return []


def as_bool(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.lower() in {"true", "1"})
