"""Put labels on a thread, and take them off."""

from patchwright.core.types.threads import ThreadRef
from patchwright.integrations.github.api import Api


def swap_labels(
    api: Api, ref: ThreadRef, add: tuple[str, ...], remove: tuple[str, ...]
) -> None:
    raise NotImplementedError
