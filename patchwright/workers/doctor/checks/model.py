"""Check the model: is it known, has it a key, what does it cost."""

from collections.abc import Iterator

from patchwright.core.errors import SettingsError
from patchwright.core.llm.errors import ModelCredentialError, ModelError
from patchwright.core.llm.library import missing_keys, table_entry
from patchwright.core.llm.model import Model, ModelRequest, UserText
from patchwright.core.settings.llm import ModelSettings
from patchwright.core.settings.model import Settings
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.errors import result_of_error
from patchwright.workers.doctor.finding import CheckResult, combine, failed, ok, warning
from patchwright.workers.models import RECORDED, find_model, make_models

_TEST_REQUEST = ModelRequest(
    messages=(UserText(text="Answer with the one word: ready"),), deadline_s=40.0
)
_FIX_MODEL_KEY = "set LLM_API_KEY (llm.api_key) to a valid key of this provider"
_FIX_MODEL_NAME = "write llm.model as litellm spells it, provider/model, and check llm.base_url"


def check_model(context: CheckContext) -> CheckResult:
    settings = context.settings
    try:
        found = find_model(settings.llm, "agent.model", settings.agent.model)
        model = make_models(settings, context.clock).main
    except SettingsError as error:
        return result_of_error(error, "name a model: set LLM_MODEL and LLM_API_KEY")
    if found.model.startswith(RECORDED):
        return ok(f"{found.model}: repeats a recording")
    return combine((*_examine_model(found, model, settings), *_ask_model(context, model)))


def _examine_model(
    found: ModelSettings, model: Model, settings: Settings
) -> Iterator[CheckResult]:
    price = model.ceiling_usd(_TEST_REQUEST)
    told = "price known" if price is not None else "no price known"
    yield ok(f"{found.model}, {told}")
    if not found.base_url and not table_entry(found.model):
        yield warning(f"{found.model} is in no table of models", _FIX_MODEL_NAME)
    if not found.api_key and not found.base_url:
        yield from _missing_model_key(found.model)
    if price is None:
        yield _unknown_price(settings)


def _missing_model_key(name: str) -> Iterator[CheckResult]:
    if missing := missing_keys(name):
        yield failed(f"no key: neither llm.api_key nor {', '.join(missing)}", _FIX_MODEL_KEY)


def _unknown_price(settings: Settings) -> CheckResult:
    fix = (
        "set llm.input_cost_per_token and llm.output_cost_per_token (USD; 0 where it "
        "costs nothing)"
    )
    if settings.limits.unknown_price == "refuse":
        words = "its price is not known, and limits.unknown_price is refuse"
        return failed(f"{words}: every run is refused", fix)
    most = settings.limits.max_tokens
    return warning(f"its price is not known: {most} tokens are a run's ceiling", fix)


def _ask_model(context: CheckContext, model: Model) -> Iterator[CheckResult]:
    """Ask it one thing, where that was allowed."""
    if not context.spends:
        return
    try:
        reply = model.complete(_TEST_REQUEST)
    except ModelError as error:
        is_key = isinstance(error, ModelCredentialError)
        yield result_of_error(error, _FIX_MODEL_KEY if is_key else _FIX_MODEL_NAME)
        return
    cost = reply.usage.cost_usd
    paid = "at an unknown price" if cost is None else f"for ${cost:.6f}"
    yield ok(f"answered in {reply.latency_ms / 1000:.1f} s {paid}")
