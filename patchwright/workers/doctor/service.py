"""Check the running service: its broker, its processes and its public address."""

import json
import ssl
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from importlib.metadata import version
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from patchwright.core.doctor import (
    CheckContext,
    CheckResult,
    combine,
    failed,
    ok,
    result_of_error,
    skipped,
    warning,
)
from patchwright.core.forge import Forge
from patchwright.core.plugin import Plugin, WebhookProbe
from patchwright.core.plugin_host import MemoryVault
from patchwright.core.settings.fields import is_address
from patchwright.core.text.strings import count_noun
from patchwright.core.types.errors import NotFoundError, PermissionDeniedError
from patchwright.core.types.threads import RepoRef
from patchwright.core.webhook import WEBHOOK_ROUTE
from patchwright.integrations.registry import describe_services, find_forge
from patchwright.workers.doctor.storage import open_current_database
from patchwright.workers.ops.health import ProcessStatus, live_processes
from patchwright.workers.queue.app import check_round_trip
from patchwright.workers.queue.interface import BrokerUnavailableError

_FIX_BROKER = "start the broker, and check host and password in queue.broker_url"


def check_broker(context: CheckContext) -> CheckResult:
    queue = context.settings.queue
    if queue.is_in_memory:
        return ok("in memory: for `serve --role all`, one process group")
    url = queue.broker_url.get_secret_value()
    began_at = context.clock.monotonic()
    try:
        check_round_trip(url)
    except BrokerUnavailableError as error:
        return result_of_error(error, _FIX_BROKER)
    took_ms = (context.clock.monotonic() - began_at) * 1000
    parts = urlsplit(url)
    return ok(f"{parts.scheme} at {parts.hostname}, there and back in {took_ms:.0f} ms")


_ALL_IN_ONE_ROLE = "all"
# A process of the version before still has this name.
_FORMER_ROLES = {"beat": "scheduler"}
_NEEDED_ROLES = ("web", "worker", "scheduler")


def check_processes(context: CheckContext) -> CheckResult:
    with open_current_database(context.settings) as database:
        if database is None:
            return skipped("no process has written a heartbeat into this database")
        found = live_processes(database)
    return judge_processes(found, version("patchwright"))


def judge_processes(found: Sequence[ProcessStatus], own: str) -> CheckResult:
    """Judge the processes that are alive, for a command of that version."""
    if not found:
        return warning(
            "no process of the service is alive",
            "run patchwright serve; its log says why it ended",
        )
    roles = Counter(_FORMER_ROLES.get(one.role, one.role) for one in found)
    shown = ", ".join(f"{count} {role}" for role, count in sorted(roles.items()))
    return combine((ok(shown), *_process_problems(found, roles, own)))


def _process_problems(
    found: Sequence[ProcessStatus], roles: Counter[str], own: str
) -> Iterator[CheckResult]:
    absent = [
        one for one in _NEEDED_ROLES if not roles[one] and not roles[_ALL_IN_ONE_ROLE]
    ]
    for role in absent:
        yield warning(f"no {role} is running", f"patchwright serve --role {role}")
    for one in found:
        if one.red:
            yield warning(
                f"{one.role} {one.name}: {', '.join(one.red)} not working",
                f"see the log of {one.name}, and the checks of these parts",
            )
    other = sorted({one.version for one in found if one.version != own})
    if other:
        yield warning(
            f"{', '.join(other)} is running, and this is {own}",
            "restart all processes with one version",
        )


_WITHIN_S: Final = 10.0
_MOST_BYTES: Final = 64 * 1024
_NO_HEADERS: Final[Mapping[str, str]] = {}
_FIX_CERTIFICATE: Final = (
    "renew the certificate; it must name this host, and the server must send the "
    "whole chain"
)
_FIX_UNREACHABLE: Final = (
    "start `patchwright serve` and the proxy in front; check DNS and firewall"
)


class UnreachableError(Exception):
    """Nobody answered, or nobody who can be trusted; `fix` says what to do."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    status: int
    body: bytes

    def json(self) -> object:
        """Return what was said, None if that is no JSON."""
        try:
            found: object = json.loads(self.body)
        except ValueError:
            return None
        return found


def send_request(
    url: str, headers: Mapping[str, str] = _NO_HEADERS, body: bytes | None = None
) -> HttpAnswer:
    """Send a GET, or a POST where there is a body. Raises `UnreachableError`.

    A redirect is an answer, and not followed: what is sent is for that address alone,
    and GitHub does not follow one either.
    """
    if not is_address(url):
        raise UnreachableError("not an address", "write it as https://HOST")
    request = Request(url, data=body, headers=dict(headers))  # noqa: S310 - http(s) alone, as was just checked
    try:
        with _opener().open(request, timeout=_WITHIN_S) as answer:
            return HttpAnswer(answer.status, answer.read(_MOST_BYTES))
    except HTTPError as error:
        with error:
            return HttpAnswer(error.code, error.read(_MOST_BYTES))
    except (URLError, OSError, HTTPException) as error:
        raise _unreachable(error) from error


def _opener() -> OpenerDirector:
    opener = OpenerDirector()
    for handler in (
        *(ProxyHandler(), HTTPHandler(), HTTPSHandler()),
        *(HTTPDefaultErrorHandler(), HTTPErrorProcessor()),
    ):
        opener.add_handler(handler)
    return opener


def _unreachable(error: Exception) -> UnreachableError:
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, ssl.SSLCertVerificationError):
        return UnreachableError(
            f"bad certificate: {reason.verify_message}", _FIX_CERTIFICATE
        )
    text = reason.strerror if isinstance(reason, OSError) else None
    return UnreachableError((text or str(reason)).lower(), _FIX_UNREACHABLE)


_HEALTH: Final = "/healthz"
_OWN_ANSWER: Final = (HTTPStatus.BAD_REQUEST, "bad-payload")
_FIX_ADDRESS: Final = (
    "check that server.public_url, its name in DNS and the proxy in front lead to "
    "`patchwright serve`"
)


def check_public_url(context: CheckContext) -> CheckResult:
    if not context.public_url:
        return _without_address(context)
    try:
        health = send_request(context.public_url + _HEALTH)
        if not _is_health(health):
            words = f"something else answers at {context.public_url}"
            return failed(f"{words} (status {health.status})", _FIX_ADDRESS)
        return _check_secret(context)
    except UnreachableError as error:
        return failed(f"{context.public_url}: {error}", error.fix)


def _without_address(context: CheckContext) -> CheckResult:
    directory = describe_services(context.settings)
    services = (directory.forge, *directory.chats.values())
    if any(one.needs_address for one in services):
        return warning(
            "server.public_url is not set: no links to runs, and nobody can sign in",
            "set PATCHWRIGHT_SERVER__PUBLIC_URL to the address that "
            f"{directory.forge.title} calls",
        )
    return skipped("server.public_url is not set")


def _is_health(answer: HttpAnswer) -> bool:
    is_known = answer.status in (HTTPStatus.OK, HTTPStatus.SERVICE_UNAVAILABLE)
    return is_known and isinstance(answer.json(), dict)


def _check_secret(context: CheckContext) -> CheckResult:
    """Tell whether it holds our secret, and so is this service and no other."""
    forge = find_forge(context.settings)
    probe = forge.make_probe(context.settings) if forge.make_probe else None
    if probe is None:
        return ok(f"{context.public_url} answers")
    address = context.public_url + WEBHOOK_ROUTE.format(service=forge.name)
    answer = send_request(address, probe.headers, probe.body)
    return _judge_probe(answer, context.public_url, forge, probe)


def _judge_probe(
    answer: HttpAnswer, public_url: str, forge: Plugin, probe: WebhookProbe
) -> CheckResult:
    """Judge the answer to a delivery that was signed by our secret."""
    body = answer.json()
    word = body.get("status") if isinstance(body, dict) else None
    if (answer.status, word) == _OWN_ANSWER:
        return ok(f"{public_url} is this service")
    if answer.status == HTTPStatus.UNAUTHORIZED:
        return failed(
            f"the service at {public_url} has another {probe.setting}",
            "restart it with these settings, or correct server.public_url",
        )
    if (answer.status, word) == (HTTPStatus.NOT_FOUND, "not-configured"):
        return failed(
            f"the service at {public_url} has no {forge.title} configured",
            "restart it with these settings, or correct server.public_url",
        )
    words = (
        f"{public_url}{WEBHOOK_ROUTE.format(service=forge.name)} answers "
        f"{answer.status}"
    )
    return failed(words, "the proxy in front must forward every path of the service")


def check_repositories(context: CheckContext) -> CheckResult:
    directory = describe_services(context.settings)
    named = {
        repository: f"{chat.repositories_setting}.{key}"
        for chat in directory.chats.values()
        for key, repository in chat.repositories.items()
        if repository
    }
    if not named:
        settings = (one.repositories_setting for one in directory.chats.values())
        return skipped(f"none is named in {' or '.join(filter(None, settings))}")
    plugin = find_forge(context.settings)
    if not directory.forge.is_configured or plugin.connect_forge is None:
        return skipped(f"{plugin.title} is not configured")
    opened = plugin.connect_forge(context.settings, MemoryVault(), context.clock)
    with closing(opened) as connection:
        found = [
            _repository_problem(
                connection.forge, RepoRef(forge=plugin.name, full_name=name), where
            )
            for name, where in named.items()
        ]
    count = count_noun(len(named), "repository", "repositories")
    return combine((ok(f"{count} can be read"), *filter(None, found)))


def _repository_problem(forge: Forge, repo: RepoRef, where: str) -> CheckResult | None:
    name = repo.full_name
    try:
        forge.fetch_repository(repo)
    except (NotFoundError, PermissionDeniedError):
        return failed(
            f"{name} cannot be read",
            f"install the App on {name}, let the token reach it, or correct {where}",
        )
    return None
