"""Apply a repository's configuration, within the limits of the service's settings."""

from typing import Final, Literal

from patchwright.core.plugin import ServiceProfile
from patchwright.core.security.hosts import WEB_PORTS, Domain, read_domain
from patchwright.core.settings.agent import LlmSettings
from patchwright.core.settings.limits import LimitSettings, SandboxSettings
from patchwright.core.settings.model import Settings
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.text.escape import inline_code
from patchwright.core.types.base import Value
from patchwright.integrations.git.commits import Signature
from patchwright.resolver.admission import refused_rules, service_policy
from patchwright.sandbox.egress.rules import Endpoint, is_open
from patchwright.sandbox.egress.tls_hello import is_address


def commit_author_of(forge: ServiceProfile) -> Signature:
    """Return the bot's name and its email address on the forge."""
    name = forge.mention.removeprefix("@")
    return Signature(name, f"{name}@{forge.mail_domain}")


_Network = Literal["deny", "allowlist", "allow"]
_NETWORK_ORDER: Final[tuple[_Network, ...]] = ("deny", "allowlist", "allow")


class RunSettings(Value):
    """The settings of one run, and notes on configuration that was not accepted."""

    settings: Settings
    notes: tuple[str, ...] = ()


def apply_configuration(settings: Settings, config: RepositoryConfig) -> RunSettings:
    """Return the settings together with the repository's configuration.

    A repository may lower limits, choose one of the configured models, and close the
    network completely or except for some hosts. It may open the network only if the
    service allows that. Who may ask is checked elsewhere; the notes here also name the
    access rules that the service does not accept.
    """
    notes = list(refused_rules(service_policy(settings, ""), config))
    model = _model(settings, config, notes)
    with_repository_config = settings.replace(
        agent=settings.agent.replace(model=model),
        limits=_limits(settings.limits, config),
        sandbox=_sandbox(settings.sandbox, config, notes),
    )
    file = inline_code(config.file)
    return RunSettings(
        settings=with_repository_config,
        notes=(*config.problems, *(f"{file} {one}" for one in notes)),
    )


def _model(settings: Settings, config: RepositoryConfig, notes: list[str]) -> str:
    if not config.model:
        return settings.agent.model
    name = resolve_model_name(settings.llm, config.model)
    if name is None:
        wanted = inline_code(config.model)
        notes.append(f"asks for the model {wanted}, which this service does not have.")
        return settings.agent.model
    return name


def resolve_model_name(llm: LlmSettings, wanted: str) -> str | None:
    """Return the name of a configured model, given its name or litellm's name for it.

    Only configured models are accepted: for any other model, a key could be sent to
    the wrong provider.
    """
    if wanted in llm.named:
        return wanted
    if wanted == llm.model:
        return ""
    named = (name for name, model in llm.named.items() if model.model == wanted)
    return next(named, None)


def _limits(limits: LimitSettings, config: RepositoryConfig) -> LimitSettings:
    if config.max_cost_usd is not None:
        cost_usd = min(limits.max_cost_usd, config.max_cost_usd)
        limits = limits.replace(max_cost_usd=cost_usd)
    if config.max_iterations is not None:
        iterations = min(limits.max_iterations, config.max_iterations)
        limits = limits.replace(max_iterations=iterations)
    if config.timeout_minutes is not None:
        minutes = min(limits.timeout_minutes, config.timeout_minutes)
        limits = limits.replace(timeout_minutes=minutes)
    return limits


def _sandbox(
    sandbox: SandboxSettings, config: RepositoryConfig, notes: list[str]
) -> SandboxSettings:
    network = _network(sandbox, config, notes)
    domains = sandbox.allow_domains
    if config.allow_domains:
        domains = _domains(sandbox, config, notes)
    if network == "allowlist" and not domains:
        notes.append("leaves no host to be reached: the network is closed.")
    return sandbox.replace(
        image=config.image or sandbox.image, network=network, allow_domains=domains
    )


def _network(
    sandbox: SandboxSettings, config: RepositoryConfig, notes: list[str]
) -> _Network:
    granted, wanted = sandbox.network, config.network or sandbox.network
    opens = _NETWORK_ORDER.index(wanted) > _NETWORK_ORDER.index(granted)
    if not opens or sandbox.repositories_may_open:
        return wanted
    keeps = "closed" if granted == "deny" else "open for listed hosts alone"
    notes.append(f"asks for the network, which this service keeps {keeps}.")
    return granted


def _domains(
    sandbox: SandboxSettings, config: RepositoryConfig, notes: list[str]
) -> tuple[str, ...]:
    wanted = tuple(domain.lower() for domain in config.allow_domains)
    allowed = tuple(domain for domain in wanted if _is_granted(domain, sandbox))
    refused = [inline_code(domain) for domain in wanted if domain not in allowed]
    if refused:
        notes.append(
            f"asks for hosts that this service does not allow: {', '.join(refused)}."
        )
    return allowed


def _is_granted(domain: str, sandbox: SandboxSettings) -> bool:
    """Tell whether the service allows this host too; an invalid host is refused."""
    try:
        wanted = read_domain(domain)
    except ValueError:
        return False
    if sandbox.network == "allow":
        return _is_public(wanted)
    return any(read_domain(one).covers(wanted) for one in sandbox.allow_domains)


def _is_public(wanted: Domain) -> bool:
    """Tell whether an open network reaches the host; private addresses are refused."""
    target = Endpoint(wanted.host, wanted.port or WEB_PORTS[0])
    return not is_address(wanted.host) or is_open(wanted.host, target, ())


def max_raise_usd_of(limits: LimitSettings) -> float:
    """Return how much people with write permission can add to the run's budget."""
    raised = limits.max_raise_usd
    return limits.max_cost_usd if raised is None else raised
