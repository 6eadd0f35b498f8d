"""Find before anything starts what would end a run later: its model and the key.

`patchwright doctor` uses the same checks. Nothing is asked but the address of a model
server of one's own, and nobody waits for litellm.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from patchwright.core.doctor import CheckResult, CheckStatus, failed, warning
from patchwright.core.llm.providers import (
    Provider,
    find_provider,
    has_price_row,
    known_providers,
    nearest_model,
    nearest_provider,
)
from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.model import Settings
from patchwright.core.types.errors import ServiceUnavailableError, SettingsError
from patchwright.workers.connection import error_text, host_and_port, knock
from patchwright.workers.used_models import UsedModel, used_models

_EXAMPLE: Final = "anthropic/claude-sonnet-4-5"


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
            one = unreachable(
                url, error, f"start the server, or correct {used.address_setting}"
            )
            yield _as_warning(one) if used.spare or has_spare else one


def unreachable(url: str, error: Exception, fix: str) -> CheckResult:
    return failed(
        f"cannot reach the model at {host_and_port(url)} ({error_text(error)})", fix
    )


def as_sentences(result: CheckResult) -> str:
    """Say it to somebody who can fix it."""
    return " ".join(_sentence(one) for one in (result.found, result.fix) if one)


def as_request(result: CheckResult) -> str:
    """Say it to somebody who cannot."""
    asked = f"Ask whoever runs Patchwright here to {result.fix}."
    return f"{_sentence(result.found)} {asked}"


def _sentence(text: str) -> str:
    ended = text if text.endswith(("?", ".", "!")) else f"{text}."
    return f"{ended[:1].upper()}{ended[1:]}"


@dataclass(frozen=True, slots=True)
class ModelReview:
    """What was found about the models, a line for each thing.

    With `errors` no run can work. A server that is `unreachable` may be started later.
    """

    errors: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def review_models(
    settings: Settings, say: Callable[[CheckResult], str] = as_sentences
) -> ModelReview:
    """Examine them, and make a line of each finding with `say`.

    Raises `SettingsError` where no model is chosen.
    """
    examined = tuple(examine_models(settings, process_environment()))
    errors = _lines(examined, CheckStatus.FAILED, say)
    servers = () if errors else tuple(unreachable_servers(settings))
    return ModelReview(
        errors,
        _lines(servers, CheckStatus.FAILED, say),
        _lines((*examined, *servers), CheckStatus.WARNING, say),
    )


def require_ready(settings: Settings) -> tuple[str, ...]:
    """Check the models of a run from the command line; return what is doubtful.

    Raises `SettingsError`, and `ServiceUnavailableError` where the model's own server
    takes no connection.
    """
    review = review_models(settings)
    if review.errors:
        raise SettingsError("\n".join(review.errors))
    if review.unreachable:
        raise ServiceUnavailableError("\n".join(review.unreachable))
    return review.warnings


def _lines(
    results: Iterable[CheckResult],
    status: CheckStatus,
    say: Callable[[CheckResult], str],
) -> tuple[str, ...]:
    found = (say(one) for one in results if one.status is status)
    return tuple(dict.fromkeys(found))
