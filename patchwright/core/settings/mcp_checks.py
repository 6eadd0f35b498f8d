"""Judge the servers of the Model Context Protocol in the light of all settings."""

from collections.abc import Iterator, Sequence

from patchwright.core.security.domains import read_domain
from patchwright.core.settings.mcp import McpServerSettings
from patchwright.core.settings.model import Settings
from patchwright.core.settings.schema import ValueForm, all_keys, variable_name
from patchwright.core.settings.secret_values import secret_values
from patchwright.core.settings.sources import ALIASES

_SHORTEST_SECRET = 6


def mcp_errors(settings: Settings) -> Iterator[str]:
    """Yield a line for each server that may not be used as it is configured."""
    secrets = [s for s in secret_values(settings) if len(s) >= _SHORTEST_SECRET]
    for name, server in settings.mcp.servers.items():
        place = f"mcp.servers.{name}"
        if server.host and server.host not in allowed_hosts(settings):
            yield (
                f"{place}.url: the host {server.host} is not allowed; add it to "
                f"sandbox.allow_domains ({variable_name(('sandbox', 'allow_domains'))})"
            )
        yield from _secret_errors(place, server, secrets)


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """Return the hosts that are listed by their full names; a server needs that."""
    domains = map(read_domain, settings.sandbox.allow_domains)
    return frozenset(one.host for one in domains if not one.with_subdomains)


def _secret_errors(
    place: str, server: McpServerSettings, secrets: Sequence[str]
) -> Iterator[str]:
    """Refuse what would bring a credential of the service into the sandbox."""
    names = _secret_names()
    for name, value in server.env.items():
        if name.upper() in names or _holds_any(value, secrets):
            yield (
                f"{place}.env.{name}: a secret of the service never enters the "
                "sandbox; take it out, or use a server with a `url` and `headers`"
            )
    if any(_holds_any(word, secrets) for word in server.command):
        yield (
            f"{place}.command: holds a secret of the service, which never enters the "
            "sandbox; take it out"
        )


def _secret_names() -> frozenset[str]:
    secret = {key.path for key in all_keys() if key.form is ValueForm.SECRET}
    aliases = (alias for alias, path in ALIASES.items() if path in secret)
    names = {*map(variable_name, secret), *aliases}
    return frozenset(names | {f"{name}_FILE" for name in names})


def _holds_any(text: str, secrets: Sequence[str]) -> bool:
    return any(secret in text for secret in secrets)
