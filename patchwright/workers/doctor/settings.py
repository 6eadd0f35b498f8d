"""Check that the settings are complete, and warn of careless ones."""

from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from patchwright.core.settings.checks import service_errors
from patchwright.core.settings.model import Settings
from patchwright.core.types.people import Permission
from patchwright.resolver.messages.elements import count_noun
from patchwright.workers.doctor.checks import (
    CheckContext,
    CheckResult,
    combine,
    failed,
    ok,
    warning,
)

# Secrets for signatures and access must not be easy to guess: 16 random characters.
_LEAST_SECRET_CHARS: Final = 16
_WEAK_PERMISSIONS: Final = frozenset({Permission.READ, Permission.TRIAGE})


def settings_warnings(settings: Settings) -> Iterator[CheckResult]:
    yield from _unencrypted_addresses(settings)
    yield from _short_secrets(settings)
    yield from _weak_protection(settings)
    if settings.github.token and settings.github.app_id:
        yield warning(
            "github.token has no effect with an App",
            "remove github.token, or github.app_id and github.private_key",
        )


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _unencrypted_addresses(settings: Settings) -> Iterator[CheckResult]:
    addresses = {
        "server.public_url": settings.server.public_url,
        "github.api_url": settings.github.api_url,
        "jira.base_url": settings.jira.base_url,
        "slack.api_url": settings.slack.api_url,
    }
    for key, url in addresses.items():
        if url.startswith("http:") and not is_loopback(url):
            yield warning(
                f"{key} is not https: tokens and cookies are sent unencrypted",
                f"use TLS for it, and write https:// in {key}",
            )


def _short_secrets(settings: Settings) -> Iterator[CheckResult]:
    secrets: dict[str, tuple[SecretStr, ...]] = {
        "github.webhook_secret": settings.github.webhook_secret,
        "jira.webhook_secret": settings.jira.webhook_secret,
        "security.admin_token": _optional_secret(settings.security.admin_token),
        "security.session_secret": _optional_secret(settings.security.session_secret),
    }
    for key, values in secrets.items():
        lengths = [len(value.get_secret_value()) for value in values]
        if lengths and min(lengths) < _LEAST_SECRET_CHARS:
            yield warning(
                f"{key} has {min(lengths)} characters: it can be guessed",
                f"set {key} to the output of `openssl rand -hex 32`, here and at the "
                "service that uses it",
            )


def _optional_secret(secret: SecretStr | None) -> tuple[SecretStr, ...]:
    return () if secret is None else (secret,)


def _weak_protection(settings: Settings) -> Iterator[CheckResult]:
    if settings.sandbox.kind == "unconfined":
        yield warning(
            "sandbox.kind is unconfined: commands of the agent run as this user",
            "set sandbox.kind to docker or local",
        )
    if settings.sandbox.network == "allow":
        yield warning(
            "sandbox.network is allow: data that the agent reads can leave the sandbox",
            'set sandbox.network to "deny"; put what the set-up needs into the image',
        )
    lowest = settings.security.min_permission
    if lowest in _WEAK_PERMISSIONS:
        yield warning(
            f"security.min_permission is {lowest.value}: on a public repository "
            "strangers may start runs",
            "set security.min_permission to write",
        )


def check_settings(context: CheckContext) -> CheckResult:
    errors = service_errors(context.settings)
    if errors:
        words = f"`serve` cannot start: {count_noun(len(errors), 'error')}"
        return failed(words, "\n".join(errors))
    return combine((ok("complete"), *settings_warnings(context.settings)))
