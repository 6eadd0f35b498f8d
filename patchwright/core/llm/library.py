"""Load litellm late and quiet: the only file that knows it."""

import gc
import logging
import os
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple, Protocol, cast

from pydantic import JsonValue


def preload_litellm() -> None:
    """Start the import, which takes seconds, so that it overlaps with other work.

    A call that comes too early waits for the rest of it.
    """
    threading.Thread(target=load_litellm, name="litellm-import", daemon=True).start()


class Dumpable(Protocol):
    def model_dump(self) -> dict[str, JsonValue]: ...


class Litellm(Protocol):
    """What is used of litellm."""

    model_cost: Mapping[str, Mapping[str, object]]

    def completion(self, **arguments: object) -> Dumpable: ...

    def cost_per_token(
        self,
        *,
        model: str,
        prompt_tokens: int,
        completion_tokens: int,
        cache_read_input_tokens: int,
        cache_creation_input_tokens: int,
    ) -> tuple[float, float]: ...


class LitellmLibrary(NamedTuple):
    """litellm, and the error that all of its errors are."""

    litellm: Litellm
    error: type[Exception]


@cache
def load_litellm() -> LitellmLibrary:
    """Import litellm so that it is quiet and asks nobody but the provider."""
    # Settings that litellm reads while it is imported: no price table or notices from
    # the network, and no .env file of whatever folder this process runs in.
    os.environ["LITELLM_OFFLINE_MODE"] = "true"  # noqa: TID251 - its only switch
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"  # noqa: TID251 - its only switch
    os.environ["LITELLM_MODE"] = "PRODUCTION"  # noqa: TID251 - its only switch
    with _garbage_left_alone():
        import litellm  # noqa: PLC0415 - takes seconds
        from openai import OpenAIError  # noqa: PLC0415 - comes with litellm

    # pydantic would warn on the console of each field that a provider gets wrong, and
    # of litellm's own types.
    for message in ("Pydantic serializer warnings", "Items? .* on TypedDict class"):
        warnings.filterwarnings("ignore", message=message)
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    return LitellmLibrary(cast("Litellm", litellm), OpenAIError)


@contextmanager
def _garbage_left_alone() -> Iterator[None]:
    """Import without looking for garbage among what is there to stay.

    Looking takes a third of the import's time, and at the process's end over a second.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


_PRICE_TABLE: Final = "model_prices_and_context_window_backup.json"


@cache
def price_table_text() -> bytes:
    """Return litellm's price table as JSON, empty if it is not where it used to be.

    litellm itself is not imported for that.
    """
    found = find_spec("litellm")
    for folder in (found and found.submodule_search_locations) or ():
        with suppress(OSError):
            return (Path(folder) / _PRICE_TABLE).read_bytes()
    return b""


def table_entry(model: str) -> Mapping[str, object]:
    """Return the model's row of litellm's price table; empty when it has none.

    A row is named `provider/model`, or `model` alone and then says its provider.
    `get_model_info` would find it too, but says 0 for a price that is not there.
    """
    table = load_litellm().litellm.model_cost
    provider, _, name = model.rpartition("/")
    row = table.get(name, {})
    bare = row if provider in ("", row.get("litellm_provider")) else {}
    return table.get(model, bare)
