"""Gather every secret of the settings, for those who must keep them from showing."""

import base64
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, SecretStr

from patchwright.core.settings.model import Settings
from patchwright.core.settings.secret_types import EncryptionKey


def secret_values(settings: Settings) -> tuple[str, ...]:
    """Return the secrets as text; of an address only its password is one."""
    return tuple(dict.fromkeys(value for value in _find(settings) if value))


def _find(value: object) -> Iterator[str]:
    match value:
        case SecretStr():
            yield from _without_address(value.get_secret_value())
        case EncryptionKey():
            key = value.key.get_secret_value()
            yield from (base64.b64encode(key).decode(), key.hex())
        case BaseModel():
            for _, inner in value:
                yield from _find(inner)
        case tuple():
            for inner in value:
                yield from _find(inner)
        case dict():
            for inner in value.values():
                yield from _find(inner)
        case _:
            return


def _without_address(secret: str) -> Iterator[str]:
    if "://" not in secret:
        yield from (secret, _without_scheme(secret))
        return
    password = urlsplit(secret).password or ""
    yield from (password, unquote(password))


def _without_scheme(secret: str) -> str:
    """Return what is secret in the value of a header: `Bearer` and the like are not.

    https://www.rfc-editor.org/rfc/rfc9110#name-credentials
    """
    scheme, _, credential = secret.partition(" ")
    return credential if scheme.lower() in {"bearer", "basic", "token"} else ""
