"""Check the models that runs use: name, provider, key, the way to them, and price."""

from collections.abc import Iterator, Mapping
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
from patchwright.core.llm.providers import find_provider
from patchwright.core.settings.agent import ModelSettings
from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.model import CHOOSE_MODEL, Settings
from patchwright.core.types.errors import SettingsError
from patchwright.workers.agent_configuration import make_models
from patchwright.workers.connection import connect, fix_of_route
from patchwright.workers.preflight import (
    examine_models,
    unreachable,
    unreachable_servers,
)
from patchwright.workers.used_models import RECORDED, find_model


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
        yield unreachable(url, error, fix_of_route(url))
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
