"""Find before anything starts what would end a run later: key, model and forge.

The checks are those of `patchwright doctor`. Nothing is asked but the address of a
model server of one's own, and nobody waits for litellm.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from patchwright.core.doctor import CheckResult, CheckStatus, failed
from patchwright.core.settings.environment import process_environment
from patchwright.core.settings.model import Settings
from patchwright.core.types.errors import ServiceUnavailableError, SettingsError
from patchwright.integrations.registry import find_forge
from patchwright.workers.doctor.model import examine_models, unreachable_servers


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


def require_ready(settings: Settings, *, uses_forge: bool) -> tuple[str, ...]:
    """Check what a run from the command line needs; return what is doubtful.

    Raises `SettingsError`, and `ServiceUnavailableError` where the model's own server
    takes no connection. Whether the token is good, the first call of the run shows.
    """
    if uses_forge:
        _require_token(settings)
    review = review_models(settings)
    if review.errors:
        raise SettingsError("\n".join(review.errors))
    if review.unreachable:
        raise ServiceUnavailableError("\n".join(review.unreachable))
    return review.warnings


def _require_token(settings: Settings) -> None:
    forge = find_forge(settings)
    profile = forge.describe(settings)
    if not profile.is_configured:
        missing = failed(f"no token for {forge.title}", profile.how_to_configure)
        raise SettingsError(as_sentences(missing))


def _lines(
    results: Iterable[CheckResult],
    status: CheckStatus,
    say: Callable[[CheckResult], str],
) -> tuple[str, ...]:
    found = (say(one) for one in results if one.status is status)
    return tuple(dict.fromkeys(found))
