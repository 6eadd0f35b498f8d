"""Work as a repository wishes, as far as the service's own settings let it."""

from typing import Any

from patchwright.core.settings.llm import LlmSettings
from patchwright.core.settings.model import Settings
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.settings.work import LimitSettings, SandboxSettings
from patchwright.core.text.fence import inline_code
from patchwright.core.types.base import Value


class Heeded(Value):
    """The settings of one run, and what of a repository's wishes did not get there."""

    settings: Settings
    notes: tuple[str, ...] = ()


def heed(settings: Settings, config: RepositoryConfig) -> Heeded:
    """Return the settings with the repository's wishes in them.

    It may lower limits, choose among the configured models, and close the network; it
    opens the network only where the service lets repositories do that.
    """
    notes = list(config.problems)
    model = _model(settings, config, notes)
    changed = {
        "agent": settings.agent.model_copy(update={"model": model}),
        "limits": _limits(settings.limits, config),
        "sandbox": _sandbox(settings.sandbox, config, notes),
    }
    return Heeded(settings=settings.model_copy(update=changed), notes=tuple(notes))


def _model(settings: Settings, config: RepositoryConfig, notes: list[str]) -> str:
    if not config.model:
        return settings.agent.model
    name = find_name(settings.llm, config.model)
    if name is None:
        wanted = inline_code(config.model)
        notes.append(
            f"{_file(config)} asks for the model {wanted}, which this service does not "
            "have."
        )
        return settings.agent.model
    return name


def find_name(llm: LlmSettings, wanted: str) -> str | None:
    """Return the name of a configured model, given that or how litellm spells it.

    Only those will do: any other might send a key to a provider it is not for.
    """
    if wanted in llm.named:
        return wanted
    if wanted == llm.model:
        return ""
    named = (name for name, model in llm.named.items() if model.model == wanted)
    return next(named, None)


def _limits(limits: LimitSettings, config: RepositoryConfig) -> LimitSettings:
    lowered: dict[str, Any] = {}
    if config.max_cost_usd is not None:
        lowered["max_cost_usd"] = min(limits.max_cost_usd, config.max_cost_usd)
    if config.max_iterations is not None:
        lowered["max_iterations"] = min(limits.max_iterations, config.max_iterations)
    return limits.model_copy(update=lowered)


def _sandbox(
    sandbox: SandboxSettings, config: RepositoryConfig, notes: list[str]
) -> SandboxSettings:
    changed: dict[str, Any] = {"image": config.image} if config.image else {}
    opens = config.network == "allow" and sandbox.network == "deny"
    if opens and not sandbox.repositories_may_open:
        notes.append(
            f"{_file(config)} asks for the network, which this service keeps closed."
        )
    elif config.network is not None:
        changed["network"] = config.network
    if config.allow_domains:
        changed["allow_domains"] = _domains(sandbox, config, notes)
    return sandbox.model_copy(update=changed)


def _domains(
    sandbox: SandboxSettings, config: RepositoryConfig, notes: list[str]
) -> tuple[str, ...]:
    granted = {domain.lower() for domain in sandbox.allow_domains}
    wanted = tuple(domain.lower() for domain in config.allow_domains)
    refused = [inline_code(domain) for domain in wanted if domain not in granted]
    if refused:
        notes.append(
            f"{_file(config)} asks for hosts that this service does not allow: "
            f"{', '.join(refused)}."
        )
    return tuple(domain for domain in wanted if domain in granted)


def _file(config: RepositoryConfig) -> str:
    return inline_code(config.file)
