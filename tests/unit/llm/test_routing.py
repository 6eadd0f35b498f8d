"""Which model is asked is decided by what a request needs and what has failed."""

import pytest

from patchwright.core.llm.errors import (
    ContextWindowError,
    EmptyReplyError,
    ModelCredentialError,
    ModelDeclinedError,
    ModelError,
    ModelRateLimitError,
    ModelRequestError,
    ModelUnavailableError,
)
from patchwright.core.llm.model import Image, ModelCapabilities, ModelRequest, UserText
from patchwright.core.llm.routing import (
    RequestNeeds,
    combined_error,
    needs_of_request,
    plan_route,
    route_after,
)
from patchwright.core.types.work import NO_USAGE, Usage

SMALL = ModelCapabilities(context_window=8000, max_output_tokens=1000)
LARGE = ModelCapabilities(context_window=200_000, max_output_tokens=8000)
SEES = ModelCapabilities(context_window=8000, max_output_tokens=1000, sees_images=True)
UNKNOWN = ModelCapabilities()
SHORT = RequestNeeds(prompt_tokens=100)
LONG = RequestNeeds(prompt_tokens=7001)
PICTURE = RequestNeeds(prompt_tokens=100, has_images=True)


@pytest.mark.parametrize(
    ("need", "capabilities", "route"),
    [
        (SHORT, (SMALL, LARGE), (0, 1)),
        (LONG, (SMALL, LARGE), (1, 0)),
        (LONG, (SMALL, SMALL), (0, 1)),
        (LONG, (SMALL, UNKNOWN), (1, 0)),
        (PICTURE, (SMALL, LARGE, SEES), (2, 0, 1)),
        (PICTURE, (SEES, SMALL), (0, 1)),
        (PICTURE, (SMALL, LARGE), (0, 1)),
        (RequestNeeds(prompt_tokens=7001, has_images=True), (SEES, LARGE), (1, 0)),
    ],
)
def test_the_first_that_can_is_asked_first(
    need: RequestNeeds,
    capabilities: tuple[ModelCapabilities, ...],
    route: tuple[int, ...],
) -> None:
    assert plan_route(need, capabilities) == route


def test_a_model_for_images_is_asked_for_nothing_else() -> None:
    models = (SMALL, SEES, SEES)
    assert plan_route(SHORT, models, only_for_images=2) == (0, 1)
    assert plan_route(PICTURE, models, only_for_images=2) == (2, 1, 0)


def test_a_model_that_sees_needs_no_other_for_images() -> None:
    assert plan_route(PICTURE, (SEES, LARGE, SEES), only_for_images=2) == (0, 2, 1)


def test_a_model_that_has_just_failed_is_asked_last() -> None:
    assert plan_route(SHORT, (SMALL, LARGE), cooling_down={0}) == (1, 0)
    assert plan_route(LONG, (SMALL, LARGE), cooling_down={1}) == (1, 0)


@pytest.mark.parametrize(
    ("error", "left"),
    [
        (ModelUnavailableError, (1, 2)),
        (ModelRateLimitError, (1, 2)),
        (ModelCredentialError, (1, 2)),
        (ModelDeclinedError, (1, 2)),
        (EmptyReplyError, (1, 2)),
        (ModelRequestError, ()),
        (ContextWindowError, (2,)),
    ],
)
def test_after_a_failure_those_that_may_do_better_are_left(
    error: type[ModelError], left: tuple[int, ...]
) -> None:
    capabilities = (SMALL, SMALL, LARGE)
    assert route_after(error("x"), SMALL, (1, 2), capabilities) == left


def test_s62_where_a_window_is_unknown_too_long_is_too_long() -> None:
    capabilities = (UNKNOWN, LARGE)
    assert route_after(ContextWindowError("x"), UNKNOWN, (1,), capabilities) == ()


def test_the_error_of_all_is_one_that_waiting_may_cure() -> None:
    errors = [ModelCredentialError("No key."), ModelRateLimitError("Too fast.")]
    error = combined_error(errors, Usage(cost_usd=0.5))
    assert type(error) is ModelRateLimitError
    assert str(error) == "No key. Too fast."
    assert error.usage.cost_usd == 0.5


def test_else_it_is_the_first() -> None:
    errors = [ModelDeclinedError("No."), ModelCredentialError("No key.")]
    assert type(combined_error(errors, NO_USAGE)) is ModelDeclinedError


def test_a_request_needs_what_it_holds() -> None:
    image = Image(media_type="image/png", data="QQ==")
    text = UserText(text="x" * 268, images=(image,))
    assert needs_of_request(ModelRequest(messages=(text,))) == RequestNeeds(
        prompt_tokens=2100, has_images=True
    )
