"""Try the way to an address: through the proxy if there is one, as far as the TLS."""

import socket
import ssl
from collections.abc import Mapping
from typing import Final
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

WITHIN_S: Final = 5.0
_PORTS: Final[Mapping[str, int]] = {"https": 443, "http": 80}


def connect(url: str, ca_bundle: str = "", within_s: float = WITHIN_S) -> None:
    """Connect as far as the TLS; where a proxy is between, as far as the proxy.

    Raises `OSError` or `ValueError`.
    """
    proxy = proxy_of(url)
    parts = urlsplit(proxy or url)
    with socket.create_connection(_address(parts), within_s) as plain:
        if proxy or parts.scheme != "https":
            return
        context = ssl.create_default_context(cafile=ca_bundle or None)
        with context.wrap_socket(plain, server_hostname=parts.hostname):
            return


def knock(url: str, within_s: float) -> None:
    """Connect, and no more, to the host or to the proxy; raises as `connect` does."""
    with socket.create_connection(_address(urlsplit(proxy_of(url) or url)), within_s):
        return


def host_and_port(url: str) -> str:
    host, port = _address(urlsplit(url))
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def proxy_of(url: str) -> str:
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return ""
    return getproxies().get(parts.scheme, "")


def fix_of_route(url: str) -> str:
    if proxy_of(url):
        return f"check the proxy in the environment ({urlsplit(url).scheme}_proxy)"
    host = urlsplit(url).hostname
    return f"let this machine reach {host}: check name server, firewall, or HTTPS_PROXY"


def error_text(error: Exception, within_s: float = WITHIN_S) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {within_s:.0f} s"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"bad certificate: {error.verify_message}"
    text = error.strerror if isinstance(error, OSError) else None
    return (text or str(error) or type(error).__name__).lower()


def _address(parts: SplitResult) -> tuple[str, int]:
    return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 443)
