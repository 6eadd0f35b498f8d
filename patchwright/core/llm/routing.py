"""Decide which models to ask for a reply, and in which order."""

from collections.abc import Collection, Sequence

from patchwright.core.llm.errors import (
    ContextWindowError,
    EmptyReplyError,
    ModelCredentialError,
    ModelDeclinedError,
    ModelError,
    ModelRateLimitError,
    ModelUnavailableError,
)
from patchwright.core.llm.model import ModelCapabilities, ModelRequest, output_reserve
from patchwright.core.llm.prices import image_count, usual_prompt_tokens
from patchwright.core.types.base import Value
from patchwright.core.types.work import Usage

_PASSING = (ModelRateLimitError, ModelUnavailableError)
_ANOTHER_MAY_ANSWER = (
    *_PASSING,
    ModelCredentialError,
    ModelDeclinedError,
    EmptyReplyError,
)
# After these a model is not asked first for a while.
COOLDOWN_ERRORS = (*_PASSING, ModelCredentialError)


class RequestNeeds(Value):
    """What a request takes of a model."""

    prompt_tokens: int
    has_images: bool = False


def needs_of_request(request: ModelRequest) -> RequestNeeds:
    return RequestNeeds(
        prompt_tokens=usual_prompt_tokens(request),
        has_images=image_count(request) > 0,
    )


def plan_route(
    need: RequestNeeds,
    capabilities: Sequence[ModelCapabilities],
    *,
    only_for_images: int | None = None,
    cooling_down: Collection[int] = (),
) -> tuple[int, ...]:
    """Return in which order to ask the models; the first is the usual one.

    A model with room comes before one without, one that answers before one that has
    just failed, and where there are images one that sees them before one that does
    not; the model that is there for images alone then comes second.
    """
    order = [at for at in range(len(capabilities)) if at != only_for_images]
    if only_for_images is not None and need.has_images:
        order.insert(1, only_for_images)
    return tuple(
        sorted(
            order,
            key=lambda at: (
                not _has_room(need, capabilities[at]),
                at in cooling_down,
                need.has_images and not capabilities[at].sees_images,
            ),
        )
    )


def route_after(
    error: ModelError,
    failed: ModelCapabilities,
    left: Sequence[int],
    capabilities: Sequence[ModelCapabilities],
) -> tuple[int, ...]:
    """Return which of the models that are left may do better than the failed one."""
    if isinstance(error, ContextWindowError):
        return tuple(at for at in left if _is_larger(capabilities[at], failed))
    return tuple(left) if isinstance(error, _ANOTHER_MAY_ANSWER) else ()


def combined_error(errors: Sequence[ModelError], usage: Usage) -> ModelError:
    """Return one error for all: of a kind that waiting may cure, if there is one."""
    passing = (error for error in errors if isinstance(error, _PASSING))
    chosen = next(passing, errors[0])
    text = " ".join(str(error) for error in errors)
    return type(chosen)(text, usage)


def _has_room(need: RequestNeeds, capabilities: ModelCapabilities) -> bool:
    window = capabilities.context_window
    return window is None or need.prompt_tokens + output_reserve(capabilities) <= window


def _is_larger(capabilities: ModelCapabilities, failed: ModelCapabilities) -> bool:
    mine, other = capabilities.context_window, failed.context_window
    return mine is not None and other is not None and mine > other
