"""Check that the public address leads to this service, with a good certificate."""

from http import HTTPStatus
from typing import Final

from patchwright.integrations.github.manifest import WEBHOOK_PATH
from patchwright.integrations.signatures import sign_sha256
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.finding import CheckResult, failed, ok, skipped, warning
from patchwright.workers.doctor.web import HttpAnswer, UnreachableError, send_request

_HEALTH: Final = "/healthz"
# Signed, and naming no event: whoever holds the secret calls it malformed, and stores
# nothing of it.
_BODY: Final = b"{}"
_OWN_ANSWER: Final = (HTTPStatus.BAD_REQUEST, "bad-payload")
_FIX_ADDRESS: Final = (
    "let server.public_url, its name in DNS and the proxy in front lead to "
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
    if context.settings.github.app_id or context.settings.slack.client_id:
        return warning(
            "server.public_url is not set: no links to runs, and nobody can sign in",
            "set PATCHWRIGHT_SERVER__PUBLIC_URL to the address that GitHub calls",
        )
    return skipped("server.public_url is not set")


def _is_health(answer: HttpAnswer) -> bool:
    is_known = answer.status in (HTTPStatus.OK, HTTPStatus.SERVICE_UNAVAILABLE)
    return is_known and isinstance(answer.json(), dict)


def _check_secret(context: CheckContext) -> CheckResult:
    """Tell whether it holds our secret, and so is this service and no other."""
    secrets = context.settings.github.webhook_secret
    if not secrets:
        return ok(f"{context.public_url} answers")
    signature = sign_sha256(_BODY, secrets[0].get_secret_value())
    headers = {
        "Content-Type": "application/json",
        "X-Hub-Signature-256": signature,
    }
    answer = send_request(context.public_url + WEBHOOK_PATH, headers, _BODY)
    return judge_webhook_answer(answer, context.public_url)


def judge_webhook_answer(answer: HttpAnswer, public_url: str) -> CheckResult:
    """Judge the answer to a delivery that was signed by our secret."""
    said = answer.json()
    word = said.get("status") if isinstance(said, dict) else None
    if (answer.status, word) == _OWN_ANSWER:
        return ok(f"{public_url} is this service")
    if answer.status == HTTPStatus.UNAUTHORIZED:
        return failed(
            f"the service at {public_url} has another github.webhook_secret",
            "start it anew with these settings, or correct server.public_url",
        )
    if (answer.status, word) == (HTTPStatus.NOT_FOUND, "not-configured"):
        return failed(
            f"the service at {public_url} has no GitHub configured",
            "start it anew with these settings, or correct server.public_url",
        )
    words = f"{public_url}{WEBHOOK_PATH} answers {answer.status}"
    return failed(words, "let the proxy in front pass on every path of the service")
