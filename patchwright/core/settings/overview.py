"""The settings that are in force, each with where it comes from; no secret is told."""

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import PydanticUndefined, to_jsonable_python

from patchwright.core.settings.agent import ModelSettings
from patchwright.core.settings.model import (
    KeyPath,
    Settings,
    SettingsKey,
    ValueForm,
    all_keys,
    dotted_key,
    variable_name,
)
from patchwright.core.types.base import Value

THE_DEFAULT: Final = "the default"
# Such as an App that was made on the set-up pages, or an address that follows from
# another one.
DERIVED: Final = "the service itself"
# What may be in front of the host of an address.
_CREDENTIAL: Final = re.compile(r"(?<=://)[^/@\s]+@")


class SecretState(StrEnum):
    """All that is told of a secret."""

    SET = "set"
    NOT_SET = "not set"


class SettingInForce(Value):
    """One setting: its value as people write it, and where that was found.

    `value` is a `SecretState` where it `is_secret`, and empty for what is not set.
    """

    key: str
    value: str
    where: str
    about: str
    is_secret: bool = False

    @property
    def variable(self) -> str:
        return variable_name(tuple(self.key.split(".")))

    @property
    def is_default(self) -> bool:
        return self.where == THE_DEFAULT


class SettingsPart(Value):
    """A section of the settings; `name` is empty for what belongs to none."""

    name: str
    settings: tuple[SettingInForce, ...]


def settings_in_force(settings: Settings) -> tuple[SettingsPart, ...]:
    """Return all settings, section by section, in the order of the documentation."""
    found: dict[str, list[SettingInForce]] = {}
    places = {one.key: one.where for one in settings.sources}
    for key in _keys(settings):
        name = ".".join(key.path[:-1])
        found.setdefault(name, []).append(_in_force(settings, key, places))
    return tuple(
        SettingsPart(name=name, settings=tuple(ones)) for name, ones in found.items()
    )


def _keys(settings: Settings) -> Iterator[SettingsKey]:
    """Yield every key; those of a further model come after the default model's."""
    root = type(settings)
    of_models = [
        SettingsKey(("llm", name, *key.path), key.field, key.form)
        for name in settings.llm.named
        for key in all_keys(ModelSettings)
    ]
    known = list(all_keys(root))
    last = max(n for n, key in enumerate(known) if key.path[0] == "llm")
    yield from (*known[: last + 1], *of_models, *known[last + 1 :])


def _in_force(
    settings: Settings, key: SettingsKey, places: dict[str, str]
) -> SettingInForce:
    value = _value_at(settings, key.path)
    name = dotted_key(key.path)
    is_secret = key.form is ValueForm.SECRET
    unset = THE_DEFAULT if _is_default(key, value) else DERIVED
    return SettingInForce(
        key=name,
        value=_secret_state(value) if is_secret else setting_text(value),
        where=places.get(name, unset),
        about=key.field.description or "",
        is_secret=is_secret,
    )


def _value_at(settings: Settings, path: KeyPath) -> object:
    found: Any = settings
    if path[0] == "llm" and path[1] in settings.llm.named:
        found, path = settings.llm.named[path[1]], path[2:]
    for name in path:
        found = getattr(found, name)
    return found


def _is_default(key: SettingsKey, value: object) -> bool:
    default = key.field.get_default(call_default_factory=False)
    return default is PydanticUndefined or default == value


def _secret_state(value: object) -> SecretState:
    return SecretState.SET if value else SecretState.NOT_SET


def setting_text(value: object) -> str:
    """Write a value as it is in the environment; an address without a credential.

    >>> setting_text(("a", "b")), setting_text(True), setting_text(0.5)
    ('["a", "b"]', 'true', '0.5')
    >>> setting_text("http://name:word@host/x")
    'http://***@host/x'
    """
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.10f}".rstrip("0").rstrip(".")
        case str() | Path() | int():
            return _CREDENTIAL.sub("***@", str(value))
        case BaseModel() | tuple() | list() | dict() | frozenset():
            text = json.dumps(to_jsonable_python(value), ensure_ascii=False)
            return _CREDENTIAL.sub("***@", "" if text in ("[]", "{}") else text)
        case _:
            return str(value)
