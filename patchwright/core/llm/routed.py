"""Several models as one: asked in turn until one of them answers."""

from collections.abc import Sequence

from patchwright.core.clock import Clock
from patchwright.core.events.types import ModelReply
from patchwright.core.llm.errors import ModelError
from patchwright.core.llm.model import CallWatch, Model, ModelRequest, ModelTraits
from patchwright.core.llm.routing import (
    RESTING,
    need_of,
    plan_route,
    route_after,
    summed_up,
)
from patchwright.core.types.work import NO_USAGE, Usage

# While another model is left, one is given up after this long.
PATIENCE_S = 300.0
REST_S = 300.0


class RoutedModel:
    """The first of the models that can and does answer; safe to share between threads.

    It goes by the name of the first; a reply says which one answered. All that a call
    takes, failed tries included, is summed and stays within `max_cost_usd`. The model
    at `only_for_images` is asked for nothing else.
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
        self._rests_until: dict[int, float] = {}

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        deadline_at = self._clock.monotonic() + request.deadline_s
        traits = [model.traits() for model in self._models]
        left = self._route(request, traits)
        errors: list[ModelError] = []
        spent = NO_USAGE
        while left:
            at, *others = left
            share = self._share(request, spent, deadline_at, is_last=not others)
            try:
                reply = self._models[at].complete(share, watch)
            except ModelError as error:
                errors.append(error)
                spent += error.usage
                self._note(at, error)
                left = self._affordable(
                    route_after(error, traits[at], others, traits), request, spent
                )
            else:
                self._rests_until.pop(at, None)
                return reply.model_copy(update={"usage": spent + reply.usage})
        raise summed_up(errors, spent) from errors[-1]

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        """Return what the dearest of the models takes; None if any price is unknown."""
        traits = [model.traits() for model in self._models]
        ceilings = [
            self._models[at].ceiling_usd(request) for at in self._route(request, traits)
        ]
        known = [ceiling for ceiling in ceilings if ceiling is not None]
        return max(known) if len(known) == len(ceilings) else None

    def traits(self) -> ModelTraits:
        return self._models[0].traits()

    def _route(
        self, request: ModelRequest, traits: Sequence[ModelTraits]
    ) -> tuple[int, ...]:
        now = self._clock.monotonic()
        resting = [at for at, until in self._rests_until.copy().items() if until > now]
        return plan_route(
            need_of(request),
            traits,
            only_for_images=self._only_for_images,
            resting=resting,
        )

    def _share(
        self, request: ModelRequest, spent: Usage, deadline_at: float, *, is_last: bool
    ) -> ModelRequest:
        left_s = deadline_at - self._clock.monotonic()
        changes = {"deadline_s": left_s if is_last else min(left_s, PATIENCE_S)}
        if request.max_cost_usd is not None and spent.cost_usd is not None:
            changes["max_cost_usd"] = request.max_cost_usd - spent.cost_usd
        return request.model_copy(update=changes)

    def _affordable(
        self, left: Sequence[int], request: ModelRequest, spent: Usage
    ) -> tuple[int, ...]:
        """Leave out the models that could pass what the call may cost in all."""
        if request.max_cost_usd is None or not spent.cost_usd:
            return tuple(left)
        left_usd = request.max_cost_usd - spent.cost_usd
        ceilings = {at: self._models[at].ceiling_usd(request) for at in left}
        return tuple(at for at, most in ceilings.items() if (most or 0.0) <= left_usd)

    def _note(self, at: int, error: ModelError) -> None:
        if isinstance(error, RESTING):
            self._rests_until[at] = self._clock.monotonic() + REST_S
