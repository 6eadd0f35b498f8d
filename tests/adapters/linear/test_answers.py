"""How Linear refuses, and what of it is tried again."""

from datetime import timedelta

import pytest
from pydantic import SecretStr

from patchwright.core.types.errors import (
    AlreadyExistsError,
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.integrations.linear.client import check_host
from patchwright.integrations.linear.settings import LinearSettings
from tests.adapters.linear.conftest import Scene, connect


def test_a_read_is_repeated_and_a_write_is_not(scene: Scene) -> None:
    scene.linear.fetch_identity()
    scene.fake.fail_next("POST", "query Opening", 502, times=2)
    assert scene.channel.fetch_opening(scene.ref).title == "Wrong sum"
    scene.fake.fail_next("POST", "mutation CreateComment", 502)
    with pytest.raises(ServiceUnavailableError, match="Linear says: Internal"):
        scene.channel.post(scene.ref, "Hello")
    assert scene.fake.comments(scene.key) == []


def test_a_page_of_a_proxy_is_no_answer_of_linears(scene: Scene) -> None:
    scene.fake.fail_next("POST", "", 200, body="<html>")
    with pytest.raises(ServiceError, match=r"linear\.api_url is not Linear"):
        scene.channel.fetch_opening(scene.ref)


def test_a_limit_is_waited_for_if_that_is_short(scene: Scene) -> None:
    scene.linear.fetch_identity()
    before = scene.clock.now()
    reset = int((before + timedelta(seconds=30)).timestamp() * 1000)
    limited = {"errors": [{"message": "m", "extensions": {"code": "RATELIMITED"}}]}
    scene.fake.fail_next(
        "POST",
        "query Opening",
        400,
        headers={
            "X-RateLimit-Requests-Remaining": "0",
            "X-RateLimit-Requests-Reset": str(reset),
        },
        body=limited,
    )
    assert scene.channel.fetch_opening(scene.ref).title == "Wrong sum"
    assert scene.clock.now() - before >= timedelta(seconds=29)


def test_an_hour_is_too_long_to_wait(scene: Scene) -> None:
    scene.linear.fetch_identity()
    scene.fake.exhaust()
    with pytest.raises(RateLimitedError) as refused:
        scene.channel.fetch_opening(scene.ref)
    assert refused.value.until > scene.clock.now()


def test_a_wrong_token_is_said(scene: Scene) -> None:
    linear = connect(scene.fake, scene.clock, token=SecretStr("lin_oauth_wrong"))
    with pytest.raises(AuthenticationError, match="Linear says"):
        linear.fetch_identity()


def test_a_missing_issue_is_not_found(scene: Scene) -> None:
    with pytest.raises(NotFoundError):
        scene.channel.fetch_opening(scene.ref.replace(id="ENG-99", lasting_id=""))


def test_a_second_thing_of_one_id_is_there_already(scene: Scene) -> None:
    mark = "<!-- patchwright:x run=1 -->"
    scene.channel.post(scene.ref, f"One\n\n{mark}")
    with pytest.raises(AlreadyExistsError):
        scene.channel._create_comment(
            scene.ref,
            {
                "issueId": scene.ref.lasting_id,
                "body": "Two",
                "id": scene.fake.comments(scene.key)[0].id,
            },
        )


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/x",
        "https://uploads.linear.app.evil.example/x",
        "http://uploads.linear.app/x",
        "https://user:pw@uploads.linear.app/x",
        "https://uploads.linear.app:444/x",
        "file:///etc/passwd",
        "https://[",
    ],
)
def test_the_token_goes_to_linears_hosts_alone(url: str) -> None:
    with pytest.raises(InvalidRequestError):
        check_host("https://api.linear.app", url)


def test_files_are_on_the_host_for_uploads() -> None:
    check_host("https://api.linear.app", "https://uploads.linear.app/a/b/c")


def test_addresses_are_those_of_linear() -> None:
    settings = LinearSettings.model_validate({"token": "t"})
    assert settings.web_url == "https://linear.app"
    other = LinearSettings.model_validate({"api_url": "https://api.linear.app/graphql"})
    assert other.api_url == "https://api.linear.app"
