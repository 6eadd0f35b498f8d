"""Settings that hold several secrets in one text."""

import base64
import binascii
import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, SecretBytes, SecretStr

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
