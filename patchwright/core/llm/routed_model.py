"""Several models as one: asked in turn until one of them answers."""

from collections.abc import Sequence

from patchwright.core.clock import Clock
from patchwright.core.events.types import ModelReply
from patchwright.core.llm.errors import CallWatch, LimitError, ModelError
from patchwright.core.llm.model import Model, ModelCapabilities, ModelRequest
from patchwright.core.llm.routing import (
    COOLDOWN_ERRORS,
    combined_error,
    needs_of_request,
    plan_route,
    route_after,
)
from patchwright.core.types.work import NO_USAGE, Usage

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
