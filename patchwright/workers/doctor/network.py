"""Check that this machine reaches the services, and has the right time."""

import socket
import ssl
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from patchwright.core.clock import start_call
from patchwright.core.settings.model import Settings
from patchwright.integrations.github.adapter import fetch_server_time
from patchwright.integrations.github.configured import make_github_connection
from patchwright.integrations.registry import describe_services
from patchwright.workers.doctor.checks import (
    CheckContext,
    CheckResult,
    combine,
    failed,
    ok,
    skipped,
    warning,
)

_WITHIN_S: Final = 5.0
_PORTS: Final[Mapping[str, int]] = {"https": 443, "http": 80}
_FIX_AUTHORITY: Final = (
    "its certificate authority is not trusted here: "
    "set github.ca_bundle or jira.ca_bundle, or add it to the system's authorities"
)


def check_network(context: CheckContext) -> CheckResult:
    found = [
        start_call(_reach(url, bundle))
        for url, bundle in _addresses(context.settings).items()
    ]
    return combine(one.result() for one in found)


def _addresses(settings: Settings) -> dict[str, str]:
    """Return what is asked, each with the file of authorities to trust."""
    found: dict[str, str] = {}
    directory = describe_services(settings)
    for service in (directory.forge, *directory.chats.values()):
        if service.is_configured or service is directory.forge:
            found |= service.addresses
    models = (settings.llm, *settings.llm.named.values())
    found |= {model.base_url: "" for model in models if model.base_url}
    return {url: bundle for url, bundle in found.items() if url}


def _reach(url: str, ca_bundle: str) -> Callable[[], CheckResult]:
    def reach() -> CheckResult:
        host = urlsplit(url).netloc.rpartition("@")[2]
        try:
            _connect(url, ca_bundle)
        except ssl.SSLCertVerificationError as error:
            return failed(f"{host}: {error.verify_message}", _FIX_AUTHORITY)
        except (OSError, ValueError) as error:
            return failed(f"{host}: {_error_text(error)}", _fix_of_route(url))
        return ok(host)

    return reach


def _connect(url: str, ca_bundle: str) -> None:
    """Connect as far as the TLS; where a proxy is between, as far as the proxy."""
    proxy = _proxy_of(url)
    parts = urlsplit(proxy or url)
    address = (parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 443))
    with socket.create_connection(address, _WITHIN_S) as plain:
        if proxy or parts.scheme != "https":
            return
        context = ssl.create_default_context(cafile=ca_bundle or None)
        with context.wrap_socket(plain, server_hostname=parts.hostname):
            return


def _proxy_of(url: str) -> str:
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return ""
    return getproxies().get(parts.scheme, "")


def _fix_of_route(url: str) -> str:
    if _proxy_of(url):
        return f"check the proxy in the environment ({urlsplit(url).scheme}_proxy)"
    host = urlsplit(url).hostname
    return f"let this machine reach {host}: check name server, firewall, or HTTPS_PROXY"


def _error_text(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {_WITHIN_S:.0f} s"
    text = error.strerror if isinstance(error, OSError) else None
    return (text or str(error) or type(error).__name__).lower()


# GitHub takes no signature of an App from its future, and we sign a minute back.
# Slack's signatures are good for five minutes.
# https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
_TOO_FAR_APART_S: Final = 60.0
_FAR_APART_S: Final = 20.0
_FIX_CLOCK: Final = "set the clock with NTP: timedatectl set-ntp true"


def check_clock(context: CheckContext) -> CheckResult:
    asked_at = context.clock.now()
    theirs = fetch_server_time(
        make_github_connection(context.settings.github), context.clock
    )
    if theirs is None:
        return skipped("GitHub does not send the time")
    ours = asked_at + (context.clock.now() - asked_at) / 2
    return judge_clock(ours, theirs)


def judge_clock(ours: datetime, theirs: datetime) -> CheckResult:
    """Compare the two; theirs is in whole seconds, and so some of it is no matter."""
    apart_s = (ours - theirs).total_seconds()
    way = "ahead of" if apart_s > 0 else "behind"
    words = f"{abs(apart_s):.0f} s {way} GitHub's clock"
    if abs(apart_s) >= _TOO_FAR_APART_S:
        return failed(f"{words}: signatures will be refused", _FIX_CLOCK)
    return (
        warning(words, _FIX_CLOCK)
        if abs(apart_s) >= _FAR_APART_S
        else ok("same as GitHub's clock")
    )
