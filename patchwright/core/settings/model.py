"""All settings as one frozen value, their keys, and the secrets among them."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any, Final, cast, get_args, get_origin
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, Field, SecretStr
from pydantic.fields import FieldInfo

from patchwright.core.settings.agent import AgentSettings, LlmSettings, ModelSettings
from patchwright.core.settings.fields import EncryptionKey, SettingsSection
from patchwright.core.settings.limits import LimitSettings, SandboxSettings
from patchwright.core.settings.mcp import McpSettings
from patchwright.core.settings.service import (
    AccountSettings,
    DatabaseSettings,
    OidcSettings,
    QueueSettings,
    SecuritySettings,
    ServerSettings,
    TelemetrySettings,
)
from patchwright.core.text.strings import nearest_name
from patchwright.core.types.base import Value


class SettingsNotice(Value):
    """Something about the settings that works, but that a person should change."""

    text: str
    fix: str

    def __str__(self) -> str:
        return f"{self.text}; {self.fix}"


class SettingSource(Value):
    """A setting that was given, by its dotted key, and the place that has it."""

    key: str
    where: str


class SecretInFile(Value):
    """A secret, by its dotted key, and the file in which it can be read."""

    key: str
    file: Path


class Settings(SettingsSection):
    """Everything that can be set, but for the sections that plug-ins bring.

    A class with those is made of this one. Functions that need to know every key take
    it as `root`. `sources`, `notices` and `secrets_in_files` are about the sources, and
    cannot be set.
    """

    log_json: bool = Field(
        default=False, description="Write each line of the log as a JSON object."
    )
    state_dir: Path = Field(
        description="Folder for the database, its keys and the copies of repositories.",
        json_schema_extra={
            "default": "`${XDG_STATE_HOME:-~/.local/state}/patchwright`"
        },
    )
    forge: str = Field(
        "",
        description="Service where the code is, if the settings have more than one.",
        json_schema_extra={"default": "the one that is configured"},
    )
    server: ServerSettings = ServerSettings()
    database: DatabaseSettings
    queue: QueueSettings = QueueSettings()
    security: SecuritySettings = SecuritySettings()
    accounts: AccountSettings = AccountSettings()
    oidc: OidcSettings = OidcSettings()
    llm: LlmSettings = LlmSettings()
    agent: AgentSettings = AgentSettings()
    limits: LimitSettings = LimitSettings()
    sandbox: SandboxSettings = SandboxSettings()
    mcp: McpSettings = McpSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    sources: tuple[SettingSource, ...] = Field((), exclude=True)
    notices: tuple[SettingsNotice, ...] = Field((), exclude=True)
    secrets_in_files: tuple[SecretInFile, ...] = Field((), exclude=True)


def with_section(settings: Settings, section: SettingsSection) -> Settings:
    """Return the settings with this section in the place of the one of its kind."""
    name = next(name for name, one in settings if type(one) is type(section))
    # Which fields there are, no type checker knows: plug-ins bring them.
    changed: Settings = cast("Any", settings).replace(**{name: section})
    return changed


KeyPath = tuple[str, ...]
PREFIX = "PATCHWRIGHT_"
_SECRETS = (SecretStr, EncryptionKey)


class ValueForm(Enum):
    """How a value is written as text: as it is, hidden, or as JSON."""

    TEXT = auto()
    SECRET = auto()
    JSON = auto()


@dataclass(frozen=True, slots=True)
class SettingsKey:
    path: KeyPath
    field: FieldInfo
    form: ValueForm


def all_keys(root: type[SettingsSection], path: KeyPath = ()) -> Iterator[SettingsKey]:
    """Yield every key that can be named, except those of `llm.<name>`."""
    for name, field in _fields(root).items():
        inner = _section_of(field)
        if inner:
            yield from all_keys(inner, (*path, name))
        else:
            yield SettingsKey((*path, name), field, _form_of(field.annotation))


def find_key(root: type[Settings], path: KeyPath) -> SettingsKey | None:
    section = find_section(root, path[:-1])
    field = _fields(section).get(path[-1]) if section else None
    if field is None or _section_of(field):
        return None
    return SettingsKey(path, field, _form_of(field.annotation))


def find_section(root: type[Settings], path: KeyPath) -> type[SettingsSection] | None:
    section: type[SettingsSection] = root
    for name in path:
        field = _fields(section).get(name)
        inner = _section_of(field) if field else None
        if inner is None and section is LlmSettings and field is None:
            inner = ModelSettings
        if inner is None:
            return None
        section = inner
    return section


def is_model_name(path: KeyPath) -> bool:
    """Tell whether this is `llm.<name>`: a model, or a misspelled key."""
    return path[:-1] == ("llm",) and path[-1] not in _fields(LlmSettings)


def nearest_key(root: type[Settings], path: KeyPath) -> KeyPath:
    """Return the most similar key, even if it is not very similar."""
    known = [key.path for key in all_keys(root)]
    if path[:1] == ("llm",) and len(path) == len(("llm", "name", "key")):
        known += [(*path[:2], name) for name in _fields(ModelSettings)]
    by_name = {dotted_key(key): key for key in known}
    return by_name[nearest_name(dotted_key(path), by_name)]


def dotted_key(path: KeyPath) -> str:
    return ".".join(path)


def variable_name(path: KeyPath) -> str:
    return PREFIX + "__".join(path).upper()


def missing_setting(path: KeyPath, reason: str) -> str:
    """Say that a key is not set, why that matters, and which variable sets it."""
    return f"{dotted_key(path)}: not set; {reason}: set {variable_name(path)}"


CHOOSE_MODEL: Final = (
    "set LLM_MODEL, for example to anthropic/claude-sonnet-4-5, and LLM_API_KEY"
)


def missing_model(name: str = "") -> str:
    """Say that the model `llm.<name>` is not set, and what to set with it."""
    if name:
        return missing_setting(("llm", name, "model"), "no run can start without it")
    return f"llm.model: not set; no run can start without it: {CHOOSE_MODEL}"


def _fields(section: type[SettingsSection]) -> dict[str, FieldInfo]:
    fields = section.model_fields.items()
    return {name: field for name, field in fields if not field.exclude}


def _section_of(field: FieldInfo) -> type[SettingsSection] | None:
    kind = field.annotation
    return (
        kind if isinstance(kind, type) and issubclass(kind, SettingsSection) else None
    )


def _form_of(annotation: Any) -> ValueForm:  # noqa: ANN401 - a type has no type of its own
    if _mentions_secret(annotation):
        return ValueForm.SECRET
    return (
        ValueForm.JSON
        if get_origin(annotation) in {tuple, list, dict}
        else ValueForm.TEXT
    )


def _mentions_secret(annotation: Any) -> bool:  # noqa: ANN401 - the same
    if isinstance(annotation, type) and issubclass(annotation, SettingsSection):
        fields = annotation.model_fields.values()
        return any(_mentions_secret(field.annotation) for field in fields)
    inner = get_args(annotation)
    return annotation in _SECRETS or any(_mentions_secret(kind) for kind in inner)


def secret_values(settings: Settings) -> tuple[str, ...]:
    """Return the secrets as text; of an address only its password is one."""
    return tuple(dict.fromkeys(value for value in _find(settings) if value))


def _find(value: object) -> Iterator[str]:
    match value:
        case SecretStr():
            yield from _without_address(value.get_secret_value())
        case EncryptionKey():
            key = value.key.get_secret_value()
            yield from (base64.b64encode(key).decode(), key.hex())
        case BaseModel():
            for _, inner in value:
                yield from _find(inner)
        case tuple():
            for inner in value:
                yield from _find(inner)
        case dict():
            for inner in value.values():
                yield from _find(inner)
        case _:
            return


def _without_address(secret: str) -> Iterator[str]:
    if "://" not in secret:
        yield from (secret, _without_scheme(secret))
        return
    password = urlsplit(secret).password or ""
    yield from (password, unquote(password))


def _without_scheme(secret: str) -> str:
    """Return what is secret in the value of a header: `Bearer` and the like are not.

    https://www.rfc-editor.org/rfc/rfc9110#name-credentials
    """
    scheme, _, credential = secret.partition(" ")
    return credential if scheme.lower() in {"bearer", "basic", "token"} else ""
