"""Check the models that runs use: name, provider, key, the way to them, and price."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from patchwright.core.doctor import (
    CheckContext,
    CheckResult,
    CheckStatus,
    combine,
    failed,
    ok,
    result_of_error,
    warning,
)
from patchwright.core.llm.errors import ModelCredentialError, ModelError
from patchwright.core.llm.model import Model, ModelRequest, UserText
from patchwright.core.llm.providers import (
    Provider,
    find_provider,
    has_price_row,
    known_providers,
    nearest_model,
    nearest_provider,
)
from patchwright.core.settings.agent import ModelSettings
from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.model import CHOOSE_MODEL, Settings
from patchwright.core.types.errors import SettingsError
from patchwright.workers.agent_configuration import RECORDED, find_model, make_models
from patchwright.workers.doctor.connection import (
    connect,
    error_text,
    fix_of_route,
    host_and_port,
    knock,
)

_EXAMPLE: Final = "anthropic/claude-sonnet-4-5"


@dataclass(frozen=True, slots=True)
class UsedModel:
    """A model that runs use, and the name of its `llm.<name>`, or empty.

    A run can do without one that is `spare`: it is used if another does not answer.
    """

    settings: ModelSettings
    name: str = ""
    spare: bool = False

    @property
    def model_setting(self) -> str:
        return f"llm.{self.name}.model" if self.name else "LLM_MODEL"

    @property
    def key_setting(self) -> str:
        return f"llm.{self.name}.api_key" if self.name else "LLM_API_KEY"

    @property
    def address_setting(self) -> str:
        return f"llm.{self.name}.base_url" if self.name else "LLM_BASE_URL"


def used_models(settings: Settings) -> tuple[UsedModel, ...]:
    """Return the models of all roles, the main one first; raises `SettingsError`."""
    agent, llm = settings.agent, settings.llm
    needed = {
        "agent.model": agent.model,
        "agent.condense_model": agent.condense_model or agent.model,
        "agent.delegate_model": agent.delegate_model or agent.model,
        "agent.judge_model": agent.judge_model or agent.model,
    }
    spare = {
        **{f"llm.fallbacks[{n}]": name for n, name in enumerate(llm.fallbacks)},
        **({"llm.vision_model": llm.vision_model} if llm.vision_model else {}),
    }
    found = {
        name: UsedModel(find_model(llm, key, name), name)
        for key, name in needed.items()
    }
    for key, name in spare.items():
        found.setdefault(name, UsedModel(find_model(llm, key, name), name, spare=True))
    models = found.values()
    return tuple(one for one in models if not one.settings.model.startswith(RECORDED))


def examine_models(
    settings: Settings, environ: Mapping[str, str]
) -> Iterator[CheckResult]:
    """Yield what is wrong with their names and keys, asking nobody."""
    for used in used_models(settings):
        for one in _examine(used, environ):
            yield _as_warning(one) if used.spare else one


def _as_warning(result: CheckResult) -> CheckResult:
    return warning(result.found, result.fix)


def _examine(used: UsedModel, environ: Mapping[str, str]) -> Iterator[CheckResult]:
    provider = find_provider(used.settings.model)
    if provider is None:
        if not _is_known_address(used.settings.base_url):
            yield _unknown_provider(used)
        return
    if used.settings.base_url:
        return
    if provider.keys and not used.settings.api_key and not _any_of(provider, environ):
        yield failed(
            f"no API key for {provider.name}",
            f"set {provider.keys[0]} or {used.key_setting}",
        )
    if not has_price_row(used.settings.model, provider):
        yield _unknown_model(used, provider)


def _any_of(provider: Provider, environ: Mapping[str, str]) -> bool:
    return any(environ.get(key) for key in provider.keys)


def _is_known_address(base_url: str) -> bool:
    """Tell whether litellm knows the provider by its address."""
    host = urlsplit(base_url).netloc
    return bool(host) and any(
        host == urlsplit(one.url).netloc for one in known_providers().values()
    )


def _unknown_provider(used: UsedModel) -> CheckResult:
    name, slash, rest = used.settings.model.partition("/")
    if used.settings.base_url:
        return failed(
            f"`{used.settings.model}` does not name a provider",
            f"set {used.model_setting} to openai/{used.settings.model}, if the server "
            "speaks the API of OpenAI",
        )
    if not slash:
        return failed(
            f"`{name}` does not name a provider",
            f"set {used.model_setting} to PROVIDER/MODEL, such as {_EXAMPLE}",
        )
    near = nearest_provider(name)
    if near is None:
        return failed(
            f"unknown provider `{name}`",
            f"set {used.model_setting} to PROVIDER/MODEL, such as {_EXAMPLE}",
        )
    return failed(
        f"unknown provider `{name}`; did you mean `{near}`?",
        f"set {used.model_setting} to {near}/{rest}",
    )


def _unknown_model(used: UsedModel, provider: Provider) -> CheckResult:
    """Only warn: the table is never complete."""
    near = nearest_model(used.settings.model, provider)
    found = f"the model {used.settings.model} is not in the price table"
    if near is None:
        return warning(
            found,
            f"check {used.model_setting}; a new or private model works anyway",
        )
    return warning(
        f"{found}; did you mean {near}?",
        f"set {used.model_setting} to {near}, if it is misspelled",
    )


_KNOCK_S: Final = 1.0


def unreachable_servers(settings: Settings) -> Iterator[CheckResult]:
    """Yield each server of `base_url` that refuses to connect, or is not there.

    One that is only slow is left to the run, which waits longer.
    """
    has_spare = any(used.spare for used in used_models(settings))
    servers = {
        used.settings.base_url: used
        for used in reversed(used_models(settings))
        if used.settings.base_url
    }
    for url, used in servers.items():
        try:
            knock(url, _KNOCK_S)
        except TimeoutError:
            continue
        except (OSError, ValueError) as error:
            one = _unreachable(
                url, error, f"start the server, or correct {used.address_setting}"
            )
            yield _as_warning(one) if used.spare or has_spare else one


def _unreachable(url: str, error: Exception, fix: str) -> CheckResult:
    return failed(
        f"cannot reach the model at {host_and_port(url)} ({error_text(error)})", fix
    )


def check_model(context: CheckContext) -> CheckResult:
    settings, environ = context.settings, process_environment()
    if not settings.agent.model and not settings.llm.model:
        return failed("no model is chosen", CHOOSE_MODEL)
    try:
        found = find_model(settings.llm, "agent.model", settings.agent.model)
        model = make_models(settings, context.clock).main
        wrong = tuple(examine_models(settings, environ))
    except SettingsError as error:
        return result_of_error(error, "correct the names of the models")
    if found.model.startswith(RECORDED):
        return ok(f"{found.model}: repeats a recording")
    if any(one.status is CheckStatus.FAILED for one in wrong):
        return combine(wrong)
    way = _try_way(settings, found, environ)
    return combine(
        (*_examine_price(found, model, settings), *wrong, *way, *_ask(context, model))
    )


def _try_way(
    settings: Settings, found: ModelSettings, environ: Mapping[str, str]
) -> Iterator[CheckResult]:
    """Tell whether the hosts can be reached; which one it is, is not always known."""
    refused = tuple(unreachable_servers(settings))
    yield from refused
    url = found.base_url or _own_address(found, environ)
    if not url or refused:
        return
    try:
        connect(url)
    except (OSError, ValueError) as error:
        yield _unreachable(url, error, fix_of_route(url))
        return
    yield ok(f"{urlsplit(url).netloc} can be reached")


def _own_address(found: ModelSettings, environ: Mapping[str, str]) -> str:
    """Return the provider's address, unless the environment names another one."""
    provider = find_provider(found.model)
    if provider is None:
        return ""
    stem = provider.name.upper().replace("-", "_")
    others = (f"{stem}_API_BASE", f"{stem}_BASE_URL")
    return "" if any(environ.get(name) for name in others) else provider.url


_TEST_REQUEST: Final = ModelRequest(
    messages=(UserText(text="Answer with the one word: ready"),), deadline_s=40.0
)
_FIX_KEY: Final = "set LLM_API_KEY (llm.api_key) to a valid key of this provider"
_FIX_NAME: Final = "check LLM_MODEL (PROVIDER/MODEL) and LLM_BASE_URL"


def _examine_price(
    found: ModelSettings, model: Model, settings: Settings
) -> Iterator[CheckResult]:
    is_known = model.ceiling_usd(_TEST_REQUEST) is not None
    yield ok(f"{found.model}, {'price known' if is_known else 'no price known'}")
    if not is_known:
        yield _unknown_price(settings)


def _unknown_price(settings: Settings) -> CheckResult:
    fix = (
        "set llm.input_cost_per_token and llm.output_cost_per_token (USD; 0 if it is "
        "free)"
    )
    if settings.limits.unknown_price == "refuse":
        words = "its price is unknown, and limits.unknown_price is refuse"
        return failed(f"{words}: every run is refused", fix)
    most = settings.limits.max_tokens
    return warning(f"its price is unknown: the limit of a run is {most} tokens", fix)


def _ask(context: CheckContext, model: Model) -> Iterator[CheckResult]:
    """Ask it one thing, where that was allowed."""
    if not context.spends:
        return
    try:
        reply = model.complete(_TEST_REQUEST)
    except ModelError as error:
        is_key = isinstance(error, ModelCredentialError)
        yield result_of_error(error, _FIX_KEY if is_key else _FIX_NAME)
        return
    cost = reply.usage.cost_usd
    paid = "at an unknown price" if cost is None else f"for ${cost:.6f}"
    yield ok(f"answered in {reply.latency_ms / 1000:.1f} s {paid}")
