"""Check the settings, the way to the services, their sign-in, and the time."""

import ssl
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
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
    result_of_error,
    skipped,
    warning,
)
from patchwright.core.plugin import ServiceDirectory
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import start_call
from patchwright.core.text.strings import count_noun
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.people import Permission
from patchwright.integrations.oidc.claims import (
    IdentityProvider,
    ProviderFacts,
    make_provider,
)
from patchwright.integrations.registry import PLUGINS, describe_services, find_forge
from patchwright.integrations.settings import service_errors
from patchwright.workers.connection import connect, error_text, fix_of_route

# Secrets for signatures and access must not be easy to guess: 16 random characters.
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
                f"{key} is not https: tokens and cookies are sent unencrypted",
                f"use TLS for it, and write https:// in {key}",
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


def check_network(context: CheckContext) -> CheckResult:
    directory = describe_services(context.settings)
    services = (directory.forge, *directory.chats.values())
    named = " or ".join(filter(None, (one.authorities_setting for one in services)))
    found = [
        start_call(_reach(url, bundle, named))
        for url, bundle in _addresses(context.settings, directory).items()
    ]
    return combine(one.result() for one in found)


def _addresses(settings: Settings, directory: ServiceDirectory) -> dict[str, str]:
    """Return what is asked, each with the file of authorities to trust."""
    found: dict[str, str] = {}
    for service in (directory.forge, *directory.chats.values()):
        if service.is_configured or service is directory.forge:
            found |= service.addresses
    found |= {settings.oidc.issuer: ""}
    models = (settings.llm, *settings.llm.named.values())
    found |= {model.base_url: "" for model in models if model.base_url}
    return {url: bundle for url, bundle in found.items() if url}


def _reach(
    url: str, ca_bundle: str, authority_settings: str
) -> Callable[[], CheckResult]:
    def reach() -> CheckResult:
        host = urlsplit(url).netloc.rpartition("@")[2]
        try:
            connect(url, ca_bundle)
        except ssl.SSLCertVerificationError as error:
            fix = (
                "its certificate authority is not trusted here: set "
                f"{authority_settings}, or add it to the system's authorities"
            )
            return failed(f"{host}: {error.verify_message}", fix)
        except (OSError, ValueError) as error:
            return failed(f"{host}: {error_text(error)}", fix_of_route(url))
        return ok(host)

    return reach


_FIX_ISSUER: Final = (
    "oidc.issuer must be the provider's own name, to the last slash, and "
    "/.well-known/openid-configuration below it must answer this machine"
)

_UNKNOWN_CLIENT: Final = frozenset({"invalid_client", "unauthorized_client"})


def check_oidc(context: CheckContext) -> CheckResult:
    """Check all that a sign-in needs at the provider, without signing in."""
    if not context.settings.oidc.is_configured:
        return skipped("no provider is configured")
    provider = make_provider(context.settings, context.clock)
    if provider is None:
        return failed(
            "server.public_url is not set: nobody could come back from the provider",
            "set PATCHWRIGHT_SERVER__PUBLIC_URL to the address of this service",
        )
    try:
        facts = provider.examine()
    except ServiceError as error:
        return result_of_error(error, _FIX_ISSUER)
    return combine(
        (_describe(provider.issuer, facts), *_oidc_problems(provider, facts))
    )


def _describe(issuer: str, facts: ProviderFacts) -> CheckResult:
    tells = "tells" if facts.tells_logout else "does not tell"
    keys = count_noun(facts.keys, "key")
    return ok(f"{issuer} has {keys}, and {tells} us who signs out")


def _oidc_problems(
    provider: IdentityProvider, facts: ProviderFacts
) -> Iterator[CheckResult]:
    back = provider.redirect_uri
    if not facts.knows_redirect:
        yield failed(
            f"the provider does not know oidc.client_id, or the address {back}",
            f"at the provider, give the client the redirect URI {back}",
        )
    if facts.sign_in_refusal:
        yield failed(
            f"the provider refuses the sign-in: {facts.sign_in_refusal[:200]}",
            "correct oidc.scopes, or what the client may use at the provider",
        )
    if facts.client_refusal in _UNKNOWN_CLIENT:
        yield failed(
            f"the provider does not accept us ({facts.client_refusal})",
            "set oidc.client_id and oidc.client_secret to those of the client",
        )
    if back.startswith("http:") and not is_loopback(back):
        yield warning(
            f"{back} is not https: most providers send nobody there",
            "use TLS for it, and write https:// in server.public_url",
        )
    if facts.lacks_pkce:
        yield warning(
            "the provider does not check codes with PKCE (S256)",
            "switch PKCE on for the client, or renew the provider",
        )


# GitHub takes no signature of an App from its future, and we sign a minute back.
# Slack's signatures are good for five minutes.
# https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
_TOO_FAR_APART_S: Final = 60.0
_FAR_APART_S: Final = 20.0
_FIX_CLOCK: Final = "set the clock with NTP: timedatectl set-ntp true"


def check_clock(context: CheckContext) -> CheckResult:
    forge = find_forge(context.settings)
    asked_at = context.clock.now()
    theirs = (
        forge.fetch_time(context.settings, context.clock) if forge.fetch_time else None
    )
    if theirs is None:
        return skipped(f"{forge.title} does not send the time")
    ours = asked_at + (context.clock.now() - asked_at) / 2
    return judge_clock(ours, theirs, forge.title)


def judge_clock(ours: datetime, theirs: datetime, forge: str) -> CheckResult:
    """Compare the two; theirs is in whole seconds, and so some of it is no matter."""
    apart_s = (ours - theirs).total_seconds()
    way = "ahead of" if apart_s > 0 else "behind"
    words = f"{abs(apart_s):.0f} s {way} {forge}'s clock"
    if abs(apart_s) >= _TOO_FAR_APART_S:
        return failed(f"{words}: signatures will be refused", _FIX_CLOCK)
    return (
        warning(words, _FIX_CLOCK)
        if abs(apart_s) >= _FAR_APART_S
        else ok(f"same as {forge}'s clock")
    )
