"""Read a file that somebody else chose, as far as it may go."""

from collections.abc import Iterable
from typing import Final

from patchwright.core.errors import InvalidRequestError

CHUNK_BYTES: Final = 64 * 1024


def read_limited(chunks: Iterable[bytes], max_bytes: int) -> bytes:
    """Return it whole; what is larger raises `InvalidRequestError`.

    It is counted as it comes: the size that an answer names may be wrong.
    """
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > max_bytes:
            raise InvalidRequestError(f"it is larger than {max_bytes // 10**6} MB")
    return bytes(data)
