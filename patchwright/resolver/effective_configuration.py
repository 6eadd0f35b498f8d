"""What holds in a repository, key by key, and whose word that is."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

from patchwright.core.settings.model import Settings
from patchwright.core.settings.overview import setting_text
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.settings.repository_file import known_keys
from patchwright.core.types.base import Value
from patchwright.resolver.admission import (
    AdmissionPolicy,
    repository_policy,
    service_policy,
)
from patchwright.resolver.configuration import apply_configuration


class ConfigurationSource(StrEnum):
    """Whose word a value is.

    `LIMITED` is what the repository asks for, and the service gives only in part.
    """

    REPOSITORY = "repository"
    LIMITED = "limited by the service"
    SERVICE = "service"
    DEFAULT = "default"


class ConfigurationRow(Value):
    """A key of `.patchwright.toml`, and what holds; `wanted` is what the file says.

    Both are written as `setting_text` writes them; `wanted` is None where the file says
    nothing.
    """

    key: str
    value: str
    source: ConfigurationSource
    wanted: str | None = None


class EffectiveConfiguration(Value):
    """All keys, those that the repository sets first; `notes` are Markdown for people.

    They say what could not be read, and what the service does not accept.
    """

    rows: tuple[ConfigurationRow, ...]
    notes: tuple[str, ...]


def effective_configuration(
    settings: Settings, forge: str, config: RepositoryConfig
) -> EffectiveConfiguration:
    """Return what holds for a run in a repository of that forge with this file."""
    applied = apply_configuration(settings, config)
    policy = repository_policy(service_policy(settings, forge), config)
    of_service = _values_of_service(applied.settings, policy)
    rows = [_row(key, config, of_service) for key in sorted(known_keys())]
    return EffectiveConfiguration(
        rows=tuple(sorted(rows, key=lambda one: one.wanted is None)),
        notes=applied.notes,
    )


def _model_name(settings: Settings) -> str:
    found = settings.llm.find(settings.agent.model)
    return found.model if found else settings.agent.model


# The keys for which the service has a setting of its own, and what holds of it.
_FROM_SETTINGS: Final[Mapping[str, Callable[[Settings], object]]] = {
    "allow_domains": lambda one: one.sandbox.allow_domains,
    "image": lambda one: one.sandbox.image,
    "max_cost_usd": lambda one: one.limits.max_cost_usd,
    "max_iterations": lambda one: one.limits.max_iterations,
    "model": _model_name,
    "network": lambda one: one.sandbox.network,
    "timeout_minutes": lambda one: one.limits.timeout_minutes,
}


def _values_of_service(
    settings: Settings, policy: AdmissionPolicy
) -> Mapping[str, object]:
    return {
        **{key: read(settings) for key, read in _FROM_SETTINGS.items()},
        "allow_bots": tuple(sorted(policy.allow_bots)),
        "allow_users": tuple(sorted(policy.allow_users)),
        "min_permission": policy.min_permission,
    }


def _row(
    key: str, config: RepositoryConfig, of_service: Mapping[str, object]
) -> ConfigurationRow:
    said: Any = getattr(config, key)
    held = of_service.get(key, said)
    if key not in config.model_fields_set:
        source = _WITHOUT_FILE[key in of_service]
    elif key not in of_service or _is_met(key, held, said):
        source = ConfigurationSource.REPOSITORY
    else:
        source = ConfigurationSource.LIMITED
    wanted = setting_text(said) if key in config.model_fields_set else None
    # None in the file's model is what the file does not say.
    value = "" if held is None else setting_text(held)
    return ConfigurationRow(key=key, value=value, source=source, wanted=wanted)


# Whose word holds where the file says nothing, by whether the service has a setting.
_WITHOUT_FILE: Final = {
    True: ConfigurationSource.SERVICE,
    False: ConfigurationSource.DEFAULT,
}


def _is_met(key: str, held: object, said: object) -> bool:
    """Tell whether the service grants all that the repository asks for."""
    if isinstance(held, tuple) and isinstance(said, tuple):
        granted = {str(one).lower() for one in held}
        return {str(one).lower() for one in said} <= granted
    # The name of a model in the settings stands for the model itself.
    return key == "model" or held == said
