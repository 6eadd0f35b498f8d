"""Several models as one: which to ask, in turn until one of them answers."""

from collections.abc import Collection, Sequence

from patchwright.core.events.observations import ModelReply
from patchwright.core.llm.errors import (
    CallWatch,
    ContextWindowError,
    EmptyReplyError,
    LimitError,
    ModelCredentialError,
    ModelDeclinedError,
    ModelError,
    ModelRateLimitError,
    ModelUnavailableError,
)
from patchwright.core.llm.model import (
    Model,
    ModelCapabilities,
    ModelRequest,
    output_reserve,
)
from patchwright.core.llm.prices import image_count, usual_prompt_tokens
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.core.types.work import NO_USAGE, Usage

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


# While another model is left, one is given up after this long.
ANSWER_TIMEOUT_S = 300.0
COOLDOWN_S = 300.0


class RoutedModel:
    """The first of the models that can and does answer; safe to share between threads.

    It goes by the name of the first; a reply says which one answered. All that a call
    takes, failed tries included, is summed; each model reserves its own tries when its
    turn comes. The model at `only_for_images` is asked for nothing else.
    """

    def __init__(
        self,
        models: Sequence[Model],
        clock: Clock,
        *,
        only_for_images: int | None = None,
    ) -> None:
        self.name = models[0].name
        self._models = tuple(models)
        self._clock = clock
        self._only_for_images = only_for_images
        self._cooldown_until: dict[int, float] = {}

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        deadline_at = self._clock.monotonic() + request.deadline_s
        capabilities = [model.capabilities() for model in self._models]
        left = self._route(request, capabilities)
        errors: list[ModelError] = []
        spent = NO_USAGE
        while left:
            at, *others = left
            share = self._share(request, spent, deadline_at, is_last=not others)
            try:
                reply = self._models[at].complete(share, watch)
            except LimitError as error:
                spent += error.usage
                if not errors:
                    raise
                # Another one may be cheaper than this stand-in.
                left = tuple(others)
            except ModelError as error:
                errors.append(error)
                spent += error.usage
                self._note(at, error)
                left = route_after(error, capabilities[at], others, capabilities)
            else:
                self._cooldown_until.pop(at, None)
                return ModelReply(**{**dict(reply), "usage": spent + reply.usage})
        raise combined_error(errors, spent) from errors[-1]

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        """Return the dearest known price of one try; None if no price is known.

        A try without a price is checked when it is made: each try is reserved
        separately.
        """
        capabilities = [model.capabilities() for model in self._models]
        ceilings = [
            self._models[at].ceiling_usd(request)
            for at in self._route(request, capabilities)
        ]
        return max((one for one in ceilings if one is not None), default=None)

    def capabilities(self) -> ModelCapabilities:
        return self._models[0].capabilities()

    def _route(
        self, request: ModelRequest, capabilities: Sequence[ModelCapabilities]
    ) -> tuple[int, ...]:
        now = self._clock.monotonic()
        cooling_down = [
            at for at, until in self._cooldown_until.copy().items() if until > now
        ]
        return plan_route(
            needs_of_request(request),
            capabilities,
            only_for_images=self._only_for_images,
            cooling_down=cooling_down,
        )

    def _share(
        self, request: ModelRequest, spent: Usage, deadline_at: float, *, is_last: bool
    ) -> ModelRequest:
        left_s = deadline_at - self._clock.monotonic()
        tokens = request.tokens_left
        if tokens is not None:
            tokens = max(0, tokens - spent.tokens_in - spent.tokens_out)
        return ModelRequest(
            messages=request.messages,
            tools=request.tools,
            deadline_s=left_s if is_last else min(left_s, ANSWER_TIMEOUT_S),
            tokens_left=tokens,
        )

    def _note(self, at: int, error: ModelError) -> None:
        if isinstance(error, COOLDOWN_ERRORS):
            self._cooldown_until[at] = self._clock.monotonic() + COOLDOWN_S
