"""Tell values from what stands for them in samples, such as `sk-…` or `<your-key>`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from pydantic import SecretStr

from patchwright.core.settings.model import KeyPath, Settings, dotted_key, find_key
from patchwright.core.settings.sources import FoundValue, SettingsLayer

# What a token of a service begins with, so that `xoxb-xxxx` is found as `xxxx` is.
_PREFIX: Final = r"(?:[a-z0-9]{1,10}[-_]){0,3}"
_WHOLE: Final = re.compile(
    rf"""
    {_PREFIX}(?:
        x{{3,}} | \*{{3,}} | \.{{3,}}
        | your[-_ ].* | change[-_ ]?(?:me|this|it)!? | replace[-_ ]?(?:me|this|it)
        | (?:insert|paste)[-_ ].*
    )
    | .*[-_ ](?:key|token|secret|password|url|value)[-_ ](?:goes[-_ ])?here
    | <[^<>]*> | \$\{{?\w+\}}? | \{{\{{.*\}}\}} | placeholder | todo | tbd | fixme
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Nobody can own these names. https://www.rfc-editor.org/rfc/rfc2606#section-3
_RESERVED: Final = re.compile(
    r"https?://(?:[^/:@]+\.)?example\.(?:com|net|org)(?:[:/].*)?",
    re.IGNORECASE,
)
# As in https://HOST/api/v3, https://YOUR-TUNNEL.corp or https://<your-host>.
_SAMPLE_HOST: Final = re.compile(
    r"https?://(?:[A-Z][A-Z_-]+(?:[:/].*)?|YOUR[-_].*|.*[<>].*)"
)
_ELLIPSIS: Final = "…"
# `./...` is all packages of Go.
_DOTS: Final = re.compile(r"^\.\.\.|(?<!/)\.\.\.\s*$", re.MULTILINE)


def is_placeholder(text: str) -> bool:
    """Tell whether a sample was copied without being filled in."""
    text = text.strip()
    return (
        _ELLIPSIS in text
        or _DOTS.search(text) is not None
        or any(one.fullmatch(text) for one in (_WHOLE, _RESERVED, _SAMPLE_HOST))
    )


def without_placeholders(
    root: type[Settings], layers: Iterable[SettingsLayer]
) -> tuple[dict[KeyPath, FoundValue], list[str]]:
    """Return the values of all layers, a later one being stronger, and what is wrong.

    A line about a placeholder does not show it: it may be most of a secret.
    """
    found = {path: one for layer in layers for path, one in layer.values.items()}
    samples = {
        path: _error(root, path, one.where)
        for path, one in found.items()
        if any(map(is_placeholder, _texts(one.value)))
    }
    values = {path: one for path, one in found.items() if path not in samples}
    return values, list(samples.values())


def _error(root: type[Settings], path: KeyPath, where: str) -> str:
    key = find_key(root, path)
    meaning = f"; {path[-1]} means: {key.field.description}" if key else ""
    return (
        f"{dotted_key(path)}: still a placeholder, found in {where}; replace it with "
        f"your own value, or remove it{meaning}"
    )


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case SecretStr():
            yield value.get_secret_value()
        case Mapping():
            for inner in value.values():
                yield from _texts(inner)
        case Sequence():
            for inner in value:
                yield from _texts(inner)
        case _:
            return
