"""What Jira refuses is told in our errors, with its words and without our token."""

import traceback
from datetime import timedelta

import pytest

from patchwright.core.types.errors import (
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.integrations.jira.adapter import connect_jira
from tests.adapters.jira.conftest import NOON, Scene

COMMENT = r"/comment$"


def test_s75_general_errors_and_field_errors_are_reported(scene: Scene) -> None:
    body = {"errorMessages": ["Not so."], "errors": {"comment": "It is empty."}}
    scene.fake.fail_next("POST", COMMENT, 400, body=body)
    with pytest.raises(InvalidRequestError, match=r"Not so\.; comment: It is empty\."):
        scene.channel.post(scene.ref, "Done")


def test_s75_a_wrong_format_is_refused_with_the_fields_message(
    cloud: Scene, data_center: Scene
) -> None:
    with pytest.raises(InvalidRequestError, match="Comment body is not valid!"):
        cloud.jira.api.post(f"issue/{cloud.key}/comment", {"body": "words"})
    document = {"type": "doc", "version": 1, "content": []}
    with pytest.raises(InvalidRequestError, match="must be a string"):
        data_center.jira.api.post(
            f"issue/{data_center.key}/comment", {"body": document}
        )


def test_wrong_token_is_no_credential_and_is_not_shown(scene: Scene) -> None:
    settings = scene.fake.settings(token="wr0ng-secret")
    jira = connect_jira(settings, scene.clock)
    with pytest.raises(AuthenticationError) as caught:
        jira.channel.fetch_thread(scene.ref)
    jira.close()
    shown = "".join(traceback.format_exception(caught.value))
    assert "wr0ng-secret" not in shown
    assert "Basic " not in shown
    assert "Bearer " not in shown


def test_ticket_hidden_from_who_is_not_let_in_is_a_wrong_token(scene: Scene) -> None:
    reason = {"X-Seraph-LoginReason": "AUTHENTICATED_FAILED"}
    scene.fake.fail_next("GET", "/issue/", 404, headers=reason)
    with pytest.raises(AuthenticationError, match="does not accept"):
        scene.channel.fetch_opening(scene.ref)


def test_captcha_is_for_a_person_to_solve(scene: Scene) -> None:
    reason = {"X-Authentication-Denied-Reason": "CAPTCHA_CHALLENGE; login-url=/login"}
    scene.fake.fail_next("GET", "/issue/", 403, headers=reason)
    with pytest.raises(AuthenticationError, match="log in once"):
        scene.channel.fetch_opening(scene.ref)


def test_login_page_instead_of_an_answer_is_a_wrong_token(scene: Scene) -> None:
    where = {"Location": f"{scene.fake.base_url}/login.jsp?os_destination=x"}
    scene.fake.fail_next("GET", "/issue/", 302, headers=where)
    with pytest.raises(AuthenticationError):
        scene.channel.fetch_opening(scene.ref)


def test_redirect_elsewhere_is_a_wrong_address(scene: Scene) -> None:
    where = {"Location": "https://elsewhere.example/rest"}
    scene.fake.fail_next("POST", COMMENT, 301, headers=where)
    with pytest.raises(ServiceError, match=r"elsewhere\.example.*jira\.base_url"):
        scene.channel.post(scene.ref, "Done")


def test_page_that_is_no_answer_is_no_jira(scene: Scene) -> None:
    scene.fake.fail_next("GET", "/issue/", 200, body="<title>Welcome</title>")
    with pytest.raises(ServiceError, match="is not Jira"):
        scene.channel.fetch_opening(scene.ref)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (403, PermissionDeniedError),
        (404, NotFoundError),
        (409, ServiceUnavailableError),
        (413, InvalidRequestError),
        (503, ServiceUnavailableError),
    ],
)
def test_status_says_which_error_it_is(
    scene: Scene, status: int, kind: type[ServiceError]
) -> None:
    scene.fake.fail_next("POST", COMMENT, status)
    with pytest.raises(kind, match=str(status)):
        scene.channel.post(scene.ref, "Done")


def test_page_for_people_is_told_by_its_title(scene: Scene) -> None:
    page = "<html><title>Site is down</title><body>long</body></html>"
    scene.fake.fail_next("POST", COMMENT, 503, body=page)
    with pytest.raises(ServiceUnavailableError, match=r"503: Site is down$"):
        scene.channel.post(scene.ref, "Done")


def test_read_is_asked_again_when_jira_fails(scene: Scene) -> None:
    scene.fake.fail_next("GET", "/issue/", 502, times=2)
    assert scene.channel.fetch_opening(scene.ref).title == "Wrong sum"


def test_short_limit_is_waited_for(scene: Scene) -> None:
    scene.fake.fail_next("POST", COMMENT, 429, headers={"Retry-After": "7"})
    scene.channel.post(scene.ref, "Done")
    assert scene.clock.slept == [7]
    assert len(scene.fake.comments(scene.key)) == 1


def test_long_limit_says_when_it_ends(scene: Scene) -> None:
    scene.fake.fail_next("POST", COMMENT, 429, headers={"Retry-After": "600"})
    with pytest.raises(RateLimitedError) as caught:
        scene.channel.post(scene.ref, "Done")
    assert caught.value.until == NOON + timedelta(minutes=10)
    assert scene.clock.slept == []


def test_jira_that_is_not_there_is_unavailable(scene: Scene) -> None:
    settings = scene.fake.settings(base_url="http://127.0.0.1:9")
    jira = connect_jira(settings, scene.clock)
    with pytest.raises(ServiceUnavailableError):
        jira.fetch_identity()
    jira.close()
