"""Fetch the files that posts link to, private ones too."""

from patchwright.core.types.threads import ThreadRef
from patchwright.integrations.github.api import Api


def fetch_attachment(api: Api, ref: ThreadRef, url: str, max_bytes: int) -> bytes:
    raise NotImplementedError
