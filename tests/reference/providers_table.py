"""The providers of models as litellm knows them: `core/llm/providers.json`.

Importing litellm takes seconds, so a command that starts reads this table instead.
"""

import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import environ as _environ  # noqa: TID251 - litellm reads it there
from typing import Any, Final
from urllib.parse import urlsplit

from patchwright.core.llm.library import load_litellm
from tests.architecture.tree import ROOT

# Where litellm's own code has the address, and does not tell it.
_ADDRESSES: Final = {
    "anthropic": "https://api.anthropic.com",
    "cohere": "https://api.cohere.com",
    "cohere_chat": "https://api.cohere.com",
    "gemini": "https://generativelanguage.googleapis.com",
    "openai": "https://api.openai.com",
    "openrouter": "https://openrouter.ai",
    "replicate": "https://api.replicate.com",
}
# Its check of the environment does not know them, its calls do.
_MORE_KEYS: Final = {
    "cohere": ("CO_API_KEY",),
    "featherless_ai": ("FEATHERLESS_API_KEY",),
    "huggingface": ("HF_TOKEN",),
    "openrouter": ("OR_API_KEY",),
    "perplexity": ("PERPLEXITY_API_KEY",),
    "replicate": ("REPLICATE_API_TOKEN",),
    "vercel_ai_gateway": ("VERCEL_OIDC_TOKEN",),
    "volcengine": ("ARK_API_KEY",),
}
_VARIABLE: Final = re.compile(r'"([A-Z][A-Z0-9_]+(?:_KEY|_TOKEN))"')
_SENTINEL: Final = "sentinel-of-the-table"


PROVIDERS_FILE: Final = ROOT / "patchwright" / "core" / "llm" / "providers.json"


def providers_table() -> str:
    """Return a JSON object with a line for each provider."""
    with _empty_environment():
        litellm: Any = load_litellm().litellm
        names = sorted(str(getattr(p, "value", p)) for p in litellm.provider_list)
        candidates = _candidates(litellm)
        lines = (
            f"{json.dumps(name)}: {json.dumps(_describe(litellm, name, candidates))}"
            for name in names
        )
        return "{\n" + ",\n".join(lines) + "\n}\n"


def _candidates(litellm: Any) -> list[str]:
    sources = (
        litellm.validate_environment,
        sys.modules[litellm.get_llm_provider.__module__],
    )
    found = {
        name for one in sources for name in _VARIABLE.findall(inspect.getsource(one))
    }
    return sorted(found)


def _describe(
    litellm: Any,
    name: str,
    candidates: list[str],
) -> Mapping[str, object]:
    """Return the variables of which any one is enough, and the address.

    No variable is known where two are needed, or none: a role of the machine can stand
    for a key, and a server of one's own needs no key.
    """
    missing = set(litellm.validate_environment(f"{name}/x")["missing_keys"])
    enough = [one for one in candidates if missing and _is_enough(litellm, name, one)]
    is_by_key = bool(missing & set(enough))
    keys = [*enough, *_MORE_KEYS.get(name, ())] if is_by_key else []
    # The one that litellm asks for is named first.
    keys.sort(key=lambda key: key not in missing)
    return {"keys": keys, "url": _ADDRESSES.get(name) or _address(litellm, name)}


def _is_enough(litellm: Any, name: str, variable: str) -> bool:
    with _variable(variable):
        told = litellm.validate_environment(f"{name}/x")
        return bool(told["keys_in_environment"]) or _provider(litellm, name)[2] == (
            _SENTINEL
        )


def _address(litellm: Any, name: str) -> str:
    """Return the host of the provider, empty where it is the user's or not known."""
    parts = urlsplit(_provider(litellm, name)[3] or "")
    is_public = parts.scheme == "https" and "." in (parts.hostname or "")
    return f"{parts.scheme}://{parts.netloc}" if is_public else ""


def _provider(litellm: Any, name: str) -> tuple[str, str, str | None, str | None]:
    # It would ask GitHub for a key of this device.
    if name == "github_copilot":
        return "", name, None, None
    try:
        found: tuple[str, str, str | None, str | None] = litellm.get_llm_provider(
            f"{name}/x"
        )
    except Exception:  # noqa: BLE001 - its own error, of no common class
        return "", name, None, None
    return found


@contextmanager
def _empty_environment() -> Iterator[None]:
    before = dict(_environ)
    for variable in before:
        if re.search(r"_(KEY|TOKEN|BASE|URL)$", variable):
            del _environ[variable]
    try:
        yield
    finally:
        _environ.clear()
        _environ.update(before)


@contextmanager
def _variable(name: str) -> Iterator[None]:
    _environ[name] = _SENTINEL
    try:
        yield
    finally:
        del _environ[name]
