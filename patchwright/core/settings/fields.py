"""The kinds of fields that settings have: secrets, addresses, repositories."""

import base64
import binascii
import ipaddress
import re
from functools import lru_cache
from typing import Annotated, Any, Final, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, SecretBytes, SecretStr

from patchwright.core.types.base import Replaceable


class SettingsSection(Replaceable):
    """A frozen table of settings, in which every key is known.

    `hide_input_in_errors` keeps a wrong secret out of the message about it.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        coerce_numbers_to_str=True,
        allow_inf_nan=False,
    )

    @classmethod
    def of(cls, settings: "SettingsSection") -> Self:
        """Return this section of the settings, or its defaults where it is absent."""
        found = (one for _, one in settings if isinstance(one, cls))
        return next(found, None) or cls()


_KEY_BYTES = 32
_KEY_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


class EncryptionKey(BaseModel):
    """A key for what is stored; its id is stored beside what it encrypted."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    id: str
    key: SecretBytes


def _split(value: Any) -> Any:  # noqa: ANN401 - whatever a file or variable held
    """Split a text at commas and line ends; anything else is left as it is."""
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if not isinstance(value, str):
        return value
    return [part.strip() for part in re.split(r"[,\r\n]", value) if part.strip()]


def _read_keys(value: Any) -> Any:  # noqa: ANN401 - whatever a file or variable held
    parts = _split(value)
    if not isinstance(parts, list | tuple):
        return value
    keys = [
        _read_key(number, part) if isinstance(part, str) else part
        for number, part in enumerate(parts, 1)
    ]
    names = [key.id for key in keys if isinstance(key, EncryptionKey)]
    if len(set(names)) < len(names):
        raise ValueError("two keys have the same id")
    return keys


def _read_key(number: int, text: str) -> EncryptionKey:
    # The number and not the id names the key: who swaps the two writes the key there.
    name, colon, encoded = text.strip().partition(":")
    if not colon or not _KEY_ID.match(name):
        raise ValueError("expected id:base64, separated by commas")
    try:
        key = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        raise ValueError(f"key {number} is not base64") from None
    if len(key) != _KEY_BYTES:
        raise ValueError(f"key {number} has {len(key)} bytes instead of 32")
    return EncryptionKey(id=name, key=SecretBytes(key))


def _read_pem(value: Any) -> Any:  # noqa: ANN401 - whatever a file or variable held
    # Where only one line can be entered, people write \n for its end.
    return value.replace("\\n", "\n") if isinstance(value, str) else value


EncryptionKeys = Annotated[tuple[EncryptionKey, ...], BeforeValidator(_read_keys)]
Secrets = Annotated[tuple[SecretStr, ...], BeforeValidator(_split)]
Pem = Annotated[SecretStr, BeforeValidator(_read_pem)]


_ADDRESS: Final = re.compile(r"https?://(?!:)[^\s/?#]+(/[^\s?#]*)?\Z")
_MODEL_CALLS: Final = ("/chat/completions", "/completions", "/responses", "/models")
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+\Z")


def is_address(value: str) -> bool:
    try:
        has_host = bool(urlsplit(value).hostname) and urlsplit(value).port != 0
    except ValueError:
        return False
    return has_host and _ADDRESS.match(value) is not None


def read_address(value: str) -> str:
    if not is_address(value):
        raise ValueError("expected an address such as https://HOST/path")
    return value.rstrip("/")


def read_model_server(value: str) -> str:
    """Return the address of a model's server, without the call that may follow it."""
    address = read_address(value)
    for call in _MODEL_CALLS:
        address = address.removesuffix(call)
    return address


def read_public_url(value: str) -> str:
    """Return our own address, which may have a path, but none of our own pages."""
    if "?" in value or "#" in value:
        raise ValueError("expected an address without `?` and `#`")
    if not is_address(value):
        raise ValueError("expected an address such as https://HOST")
    address_parts(value)
    address = value.rstrip("/")
    base, page, _rest = address.partition("/api/integration/")
    if page:
        raise ValueError(f"that is the address for webhooks: use {base}")
    return address


def address_parts(address: str) -> tuple[str, str, str]:
    """Return scheme and host, the name of the host, and the path."""
    parts = urlsplit(address)
    if "@" in parts.netloc:
        raise ValueError("expected an address without a user's name or a password")
    root = f"{parts.scheme}://{parts.netloc}"
    return root, (parts.hostname or "").lower(), parts.path.rstrip("/")


def read_repositories(value: dict[str, str]) -> dict[str, str]:
    """Check that each value is `owner/name`, or empty."""
    for key, repository in value.items():
        if repository and not _REPOSITORY.match(repository):
            raise ValueError(f"{key}: expected a repository such as owner/name")
    return value


def read_networks(value: tuple[str, ...]) -> tuple[str, ...]:
    """Check that each is an address or a network of them, as 10.0.0.0/8."""
    for one in value:
        try:
            ipaddress.ip_network(one)
        except ValueError as error:
            raise ValueError(
                f"{one}: expected an address or a network, such as 10.0.0.0/8"
            ) from error
    return value


@lru_cache(maxsize=4096)
def is_in_networks(networks: tuple[str, ...], address: str) -> bool:
    """Tell whether an address is one of these; what is no address is none of them."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(found in ipaddress.ip_network(one) for one in networks)
