"""What is kept of a run: its commits, its diff, its images."""

from collections.abc import Callable, Mapping
from typing import Final

from pydantic import TypeAdapter

from patchwright.core.llm.model import Image
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.run_store import COMMITS

DIFF: Final = "diff"
IMAGES: Final = "images"
# What people read; git has the rest.
_MAX_DIFF_BYTES: Final = 1_000_000

_IMAGES: Final = TypeAdapter(dict[str, Image])


def pack_change(
    code: ObjectStore, outcome: Outcome, redact: Callable[[str], str]
) -> dict[str, bytes]:
    """Return the commits of an outcome, and what people read of them."""
    base, head = outcome.base_sha, outcome.head_sha
    diff = code.diff(base, head, _MAX_DIFF_BYTES)
    return {
        COMMITS: code.partial_bundle(base, head),
        DIFF: redact(diff.decode("utf-8", "replace")).encode("utf-8", "replace"),
    }


def keep_images(
    keep: Callable[[str, bytes], None], images: Mapping[str, Image]
) -> None:
    if images:
        keep(IMAGES, _IMAGES.dump_json(dict(images)))


def load_images(load: Callable[[str], bytes | None]) -> dict[str, Image]:
    kept = load(IMAGES)
    return _IMAGES.validate_json(kept) if kept else {}
