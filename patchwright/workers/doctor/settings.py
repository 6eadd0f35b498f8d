"""Check that the settings are complete, and warn of careless ones."""

from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from patchwright.core.doctor import (
    CheckContext,
    CheckResult,
    SettingsReview,
    combine,
    failed,
    ok,
    warning,
)
from patchwright.core.settings.model import Settings
from patchwright.core.text.strings import count_noun
from patchwright.core.types.people import Permission
from patchwright.integrations.registry import PLUGINS
from patchwright.integrations.settings import service_errors

# What signs or lets in must not be guessed: 16 characters of a random generator.
_LEAST_SECRET_CHARS: Final = 16
_WEAK_PERMISSIONS: Final = frozenset({Permission.READ, Permission.TRIAGE})


def settings_warnings(settings: Settings) -> Iterator[CheckResult]:
    reviews = [
        one.review_settings(settings)
        for one in sorted(PLUGINS, key=lambda plugin: plugin.name)
    ]
    yield from _unencrypted_addresses(settings, reviews)
    yield from _short_secrets(settings, reviews)
    yield from _weak_protection(settings)
    for one in reviews:
        yield from one.warnings


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _unencrypted_addresses(
    settings: Settings, reviews: Iterable[SettingsReview]
) -> Iterator[CheckResult]:
    addresses = {"server.public_url": settings.server.public_url}
    for review in reviews:
        addresses |= review.addresses
    for key, url in addresses.items():
        if url.startswith("http:") and not is_loopback(url):
            yield warning(
                f"{key} is not https: tokens and cookies travel in the clear",
                f"put TLS in front of it, and write https:// in {key}",
            )


def _short_secrets(
    settings: Settings, reviews: Iterable[SettingsReview]
) -> Iterator[CheckResult]:
    secrets: dict[str, tuple[SecretStr, ...]] = {}
    for review in reviews:
        secrets |= review.secrets
    secrets |= {
        "security.admin_token": _optional_secret(settings.security.admin_token),
        "security.session_secret": _optional_secret(settings.security.session_secret),
    }
    for key, values in secrets.items():
        lengths = [len(value.get_secret_value()) for value in values]
        if lengths and min(lengths) < _LEAST_SECRET_CHARS:
            yield warning(
                f"{key} has {min(lengths)} characters: it can be guessed",
                f"set {key} to what `openssl rand -hex 32` prints, here and where it "
                "is used",
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
            "sandbox.network is allow: what the agent reads can leave the sandbox",
            'set sandbox.network to "deny"; what set-up needs belongs into the image',
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
        words = f"{count_noun(len(errors), 'fault')} that `serve` refuses to start with"
        return failed(words, "\n".join(errors))
    return combine((ok("complete"), *settings_warnings(context.settings)))
