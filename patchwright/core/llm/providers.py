"""The providers of models, known without litellm, whose import takes seconds."""

import json
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

from patchwright.core.llm.library import price_table_text

_TABLE: Final = "providers.json"
_SIMILAR: Final = 0.6
# Modes of the price table in which a model talks; the others embed, draw or listen.
_TALKS: Final = frozenset({"chat", "completion", "responses"})


class Provider(NamedTuple):
    """Any one of the variables `keys` is enough; `url` is its host, or empty.

    Without `keys` it is not known what the provider needs.
    """

    name: str
    keys: tuple[str, ...] = ()
    url: str = ""


@cache
def known_providers() -> Mapping[str, Provider]:
    """Return the table that `make reference` writes."""
    text = resources.files("patchwright.core.llm").joinpath(_TABLE).read_text("utf-8")
    return {
        name: Provider(name, tuple(row["keys"]), row["url"])
        for name, row in json.loads(text).items()
    }


def find_provider(model: str) -> Provider | None:
    """Return the provider of `provider/model`, or of a model that has a price.

    A newer litellm may know a provider that our table does not.
    """
    name, slash, _ = model.partition("/")
    if slash and name in known_providers():
        return known_providers()[name]
    if slash and f'"litellm_provider": "{name}"'.encode() in price_table_text():
        return Provider(name)
    named = _provider_in_table(model)
    return known_providers().get(named, Provider(named)) if named else None


def has_price_row(model: str, provider: Provider) -> bool:
    """Tell whether litellm's table has the model; without a table, it has all."""
    if not price_table_text():
        return True
    _, _, bare = model.rpartition("/")
    return bool(_provider_in_table(model)) or _provider_in_table(bare) == provider.name


def nearest_provider(name: str) -> str | None:
    """Return a provider whose name is similar, if there is one."""
    return _nearest(name, known_providers())


def nearest_model(model: str, provider: Provider) -> str | None:
    """Return a similar model of the provider that litellm knows, if there is one."""
    wanted = model.removeprefix(f"{provider.name}/")
    near = _nearest(wanted, dict.fromkeys(_models_of(provider.name)))
    return f"{provider.name}/{near}" if near else None


def _nearest(name: str, known: Mapping[str, object]) -> str | None:
    return next(iter(get_close_matches(name, known, n=1, cutoff=_SIMILAR)), None)


def _models_of(provider: str) -> Iterator[str]:
    for name, row in json.loads(price_table_text() or b"{}").items():
        if row.get("litellm_provider") == provider and row.get("mode") in _TALKS:
            yield name.removeprefix(f"{provider}/")


def _provider_in_table(model: str) -> str:
    """Return the provider that the row of the model names, without reading the rest.

    The table has megabytes: to parse it takes longer than all other checks.
    """
    text = price_table_text()
    start = text.find(b"\n    " + json.dumps(model).encode() + b": {")
    if start < 0:
        return ""
    row = text[start : text.find(b"\n    }", start)]
    named = re.search(rb'"litellm_provider": "([^"]+)"', row)
    return named[1].decode() if named else ""
