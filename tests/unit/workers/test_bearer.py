"""Who brings the token that is asked for."""

import pytest

from patchwright.workers.ops.endpoints import has_bearer_token

TOKEN = "a-token-of-this-test"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_written_as_one_likes(scheme: str) -> None:
    assert has_bearer_token(f"{scheme} {TOKEN}", TOKEN)


@pytest.mark.parametrize("shown", ["", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}s"])
def test_nothing_else_is_the_token(shown: str) -> None:
    assert not has_bearer_token(shown, TOKEN)


@pytest.mark.parametrize("shown", ["", "Bearer", "Bearer "])
def test_where_there_is_no_token_nobody_brings_it(shown: str) -> None:
    assert not has_bearer_token(shown, "")
