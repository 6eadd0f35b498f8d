"""The settings of the service with the sections that its plug-ins bring."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from pydantic import create_model

from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.loader import read_settings
from patchwright.core.settings.model import (
    Settings,
    SettingsNotice,
    missing_model,
)
from patchwright.integrations.git.command import is_tracked
from patchwright.integrations.registry import (
    PLUGINS,
    Plugins,
    find_forge,
    list_forges,
)

NO_SHARED_KEY: Final = (
    "security.encryption_keys: not set; processes that share a database need the same "
    "key: set PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS to `id:` and the base64 of 32 "
    "random bytes"
)

_HIDE: Final = (
    "move it to ~/.config/patchwright/config.toml or to an environment variable, and "
    "replace it where you got it: the history of the repository keeps it"
)


def settings_class(plugins: Plugins = PLUGINS) -> type[Settings]:
    """Return the class of the settings that have these plug-ins' sections."""
    sections: dict[str, Any] = {
        one.name: (one.section, one.section()) for one in plugins if one.section
    }
    return create_model("AllSettings", __base__=Settings, **sections)


ALL_SETTINGS: Final = settings_class()
_NO_FLAGS: Final[Mapping[str, object]] = MappingProxyType({})


def load_settings(
    environ: Mapping[str, str],
    *,
    flags: Mapping[str, object],
    cwd: Path,
    config: Path | None = None,
) -> Settings:
    """Read flags, environment, files and defaults; raises `SettingsError`."""
    return read_settings(ALL_SETTINGS, environ, flags=flags, cwd=cwd, config=config)


def load_settings_here(
    flags: Mapping[str, object] = _NO_FLAGS, config: Path | None = None
) -> Settings:
    """Read them for this process; `config` is a file in place of `./patchwright.toml`.

    Raises `SettingsError` with a line for everything that is wrong.
    """
    return load_settings(
        process_environment(), flags=flags, cwd=Path.cwd(), config=config
    )


def find_notices(settings: Settings) -> tuple[SettingsNotice, ...]:
    """Return what people should change about settings that work; it asks git."""
    return (*settings.notices, *exposed_secrets(settings))


def exposed_secrets(settings: Settings) -> tuple[SettingsNotice, ...]:
    """Return a notice for each file with secrets that git tracks."""
    keys: dict[Path, list[str]] = {}
    for one in settings.secrets_in_files:
        keys.setdefault(one.file, []).append(one.key)
    return tuple(
        SettingsNotice(
            text=f"{', '.join(names)}: the secret is in {file}, which git tracks",
            fix=_HIDE,
        )
        for file, names in keys.items()
        if is_tracked(file)
    )


def service_errors(settings: Settings, plugins: Plugins = PLUGINS) -> tuple[str, ...]:
    """Return a line for everything that keeps `serve` from starting."""
    return (
        *_model_errors(settings),
        *(error for one in plugins for error in one.review_settings(settings).errors),
        *_forge_errors(settings, plugins),
        *_account_errors(settings, plugins),
        *_key_errors(settings),
    )


def _model_errors(settings: Settings) -> Iterator[str]:
    name = settings.agent.model
    model = settings.llm.find(name)
    if model is None:
        yield f"agent.model: there is no model llm.{name}; set llm.{name}.model"
    elif not model.model:
        yield missing_model(name)


def _forge_errors(settings: Settings, plugins: Plugins) -> Iterator[str]:
    names = [one.name for one in list_forges(plugins)]
    if settings.forge and settings.forge not in names:
        yield f"forge: unknown service {settings.forge!r}; use {' or '.join(names)}"
        return
    configured = [
        one.name for one in list_forges(plugins) if one.describe(settings).is_configured
    ]
    if len(configured) > 1 and not settings.forge:
        yield (
            f"forge: {' and '.join(configured)} are both configured; set forge to the "
            "one that this service is for, and start another service for the other"
        )


def _key_errors(settings: Settings) -> Iterator[str]:
    if not settings.database.is_sqlite and not settings.security.encryption_keys:
        yield NO_SHARED_KEY


def _account_errors(settings: Settings, plugins: Plugins) -> Iterator[str]:
    yield from _admin_errors(settings, plugins)
    yield from _map_errors(settings, plugins)
    if settings.accounts.linking == "required":
        yield from _linking_errors(settings, plugins)
    oidc = settings.oidc
    if oidc.issuer and not oidc.client_id:
        yield "oidc.client_id: not set; the provider gives one to each of its clients"
    if oidc.client_id and not oidc.issuer:
        yield "oidc.issuer: not set; it is the address of the provider"
    if oidc.is_configured and not settings.server.public_url:
        yield (
            "oidc: server.public_url is not set, so that people could not come back "
            "from the provider"
        )


def _admin_errors(settings: Settings, plugins: Plugins) -> Iterator[str]:
    known = {*(one.name for one in list_forges(plugins)), "oidc"}
    for one in settings.accounts.admins:
        service, _, who = one.partition(":")
        if service not in known or not who.strip():
            yield (
                f"accounts.admins: {one!r} names nobody; write FORGE:LOGIN, or oidc: "
                "and a subject or an e-mail address"
            )


def _map_errors(settings: Settings, plugins: Plugins) -> Iterator[str]:
    services = {one.name for one in plugins}
    forges = [one.name for one in list_forges(plugins)]
    for number, together in enumerate(settings.accounts.map, 1):
        unknown = sorted(together.keys() - services)
        if unknown:
            yield f"accounts.map: entry {number}: there is no service {unknown[0]!r}"
        elif not together.keys() & set(forges) or not all(together.values()):
            yield (
                f"accounts.map: entry {number}: expected a login at "
                f"{' or '.join(forges)}, and ids"
            )


def _linking_errors(settings: Settings, plugins: Plugins) -> Iterator[str]:
    forge = find_forge(settings, plugins).describe(settings)
    # An app that is made later brings its own sign-in.
    lacks_sign_in = forge.is_configured and not forge.can_sign_in
    if lacks_sign_in or not settings.server.public_url:
        yield (
            "accounts.linking: `required` needs a page where people sign in with "
            f"{forge.title}; set server.public_url, and the client id and secret of "
            f"{forge.title}"
        )
