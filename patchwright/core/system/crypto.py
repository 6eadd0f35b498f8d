"""Envelope encryption: every value has its own key, wrapped by one of the operator's.

To change the operator's key, only the small keys are wrapped again; the values stay as
they are.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from patchwright.core.types.errors import PatchwrightError, SettingsError

KEY_BYTES: Final = 32
# 96 bits, drawn at random for each use: NIST SP 800-38D, section 8.2.2.
_NONCE_BYTES: Final = 12


class DecryptionError(PatchwrightError):
    """A sealed value cannot be opened: its key is missing, or it was tampered with."""

    reason = "undecryptable"


@dataclass(frozen=True)
class EncryptedValue:
    """An encrypted value, and its key encrypted by the operator's key `key_id`."""

    key_id: str
    wrapped_key: bytes
    ciphertext: bytes


class KeyRing:
    """The operator's keys: `current` seals, all of them open."""

    def __init__(self, keys: Mapping[str, bytes], current: str) -> None:
        wrong = [key_id for key_id, key in keys.items() if len(key) != KEY_BYTES]
        if wrong or current not in keys:
            names = ", ".join(wrong or [current])
            raise SettingsError(
                f"security.encryption_keys: {names} must be {KEY_BYTES} bytes in base64"
            )
        self._keys = {key_id: AESGCM(key) for key_id, key in keys.items()}
        self.current = current

    def seal(self, value: bytes, context: bytes) -> EncryptedValue:
        """Encrypt; only who names the same `context` can open it."""
        key = AESGCM.generate_key(bit_length=8 * KEY_BYTES)
        return EncryptedValue(
            key_id=self.current,
            wrapped_key=_encrypt(self._keys[self.current], key, context),
            ciphertext=_encrypt(AESGCM(key), value, context),
        )

    def open(self, sealed: EncryptedValue, context: bytes) -> bytes:
        key = self._unwrap(sealed, context)
        return _decrypt(AESGCM(key), sealed.ciphertext, context)

    def rewrap(self, sealed: EncryptedValue, context: bytes) -> EncryptedValue:
        """Return the same value under the current key."""
        key = self._unwrap(sealed, context)
        return EncryptedValue(
            key_id=self.current,
            wrapped_key=_encrypt(self._keys[self.current], key, context),
            ciphertext=sealed.ciphertext,
        )

    def _unwrap(self, sealed: EncryptedValue, context: bytes) -> bytes:
        if sealed.key_id not in self._keys:
            raise DecryptionError(
                f"security.encryption_keys has no key named {sealed.key_id}"
            )
        return _decrypt(self._keys[sealed.key_id], sealed.wrapped_key, context)


def _encrypt(cipher: AESGCM, value: bytes, context: bytes) -> bytes:
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, value, context)


def _decrypt(cipher: AESGCM, value: bytes, context: bytes) -> bytes:
    nonce, encrypted = value[:_NONCE_BYTES], value[_NONCE_BYTES:]
    try:
        return cipher.decrypt(nonce, encrypted, context)
    except (InvalidTag, ValueError):
        raise DecryptionError(
            "a stored secret is damaged, or belongs to another row"
        ) from None
