"""What an operator can do so that a service on the internet reaches this one."""

from typing import NamedTuple

from patchwright.core.plugin import ServiceProfile
from patchwright.core.settings.model import variable_name

_PUBLIC_URL = ("server", "public_url")


class Way(NamedTuple):
    """One way to be reachable; `commands` are typed in a shell, in this order."""

    title: str
    text: str
    commands: tuple[str, ...]


def ways_to_be_reachable(service: ServiceProfile, port: int) -> tuple[Way, ...]:
    """Return the ways for a service that listens on a port of this machine.

    Through a relay only webhooks arrive. People's browsers are sent to the public URL,
    which may then be an address of this machine.
    """
    here = f"127.0.0.1:{port}"
    deliveries = f"http://{here}/api/integration/{service.name}/events"
    channel = "https://smee.io/YOUR-CHANNEL"
    return (
        Way(
            "A reverse proxy with TLS",
            "On a machine with a public name, for example with Caddy:",
            (
                f"caddy reverse-proxy --from YOUR-NAME --to {here}",
                _set_public_url("https://YOUR-NAME"),
            ),
        ),
        Way(
            "A tunnel",
            "cloudflared prints the address of the tunnel:",
            (
                f"cloudflared tunnel --url http://{here}",
                _set_public_url("https://YOUR-TUNNEL.trycloudflare.com"),
            ),
        ),
        Way(
            "A webhook relay, to try it out",
            "Create a channel at https://smee.io/new. The relay can read the webhooks:",
            (
                f"npx smee-client --url {channel} --target {deliveries}",
                f"export {variable_name((service.name, 'webhook_url'))}={channel}",
                _set_public_url(f"http://{here}"),
            ),
        ),
    )


def _set_public_url(url: str) -> str:
    return f"export {variable_name(_PUBLIC_URL)}={url}"
