"""What GitLab's refusals and redirects mean to those who have to go on.

`responses` gives a single call the answer to order, also one that our fake GitLab would
never give; python-gitlab asks as it asks a real one.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from email.utils import format_datetime

import pytest
import responses
from gitlab.v4.objects import Project
from pydantic import SecretStr

from patchwright.core.types.errors import (
    AlreadyExistsError,
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.gitlab.auth import GitLabToken
from patchwright.integrations.gitlab.client import GitLabClient
from patchwright.integrations.gitlab.connection import GitLabAddresses, GitLabConnection
from tests.fakes.clock import START as NOW
from tests.fakes.clock import FakeClock

ROOT = "https://git.corp.example/gitlab"
APP = RepoRef(forge="gitlab", full_name="group/sub/app")
PROJECT = f"{ROOT}/api/v4/projects/group%2Fsub%2Fapp"
ISSUES = f"{PROJECT}/issues"


@pytest.fixture
def answers() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock() as found:
        yield found


@pytest.fixture
def client() -> Iterator[GitLabClient]:
    clock = FakeClock()
    connection = GitLabConnection(GitLabAddresses(base_url=ROOT), clock.now)
    token = GitLabToken(SecretStr("glpat-1"), connection)
    client = GitLabClient(connection=connection, token=token, clock=clock)
    yield client
    client.close()


def open_issue(project: Project) -> str:
    return str(project.issues.create({"title": "Broken"}).title)


def fetch_project(project: Project) -> Project:
    return project.manager.gitlab.projects.get(APP.full_name, statistics=True)


def refusal(
    client: GitLabClient,
    answers: responses.RequestsMock,
    status: int,
    body: str = "",
    headers: dict[str, str] | None = None,
) -> ServiceError:
    answers.post(ISSUES, body, status=status, headers=headers)
    with pytest.raises(ServiceError) as refused:
        client.ask_now(APP, open_issue)
    return refused.value


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (400, {"message": "bad"}, InvalidRequestError, "bad"),
        (
            400,
            {"message": {"title": ["can't be blank", "is too short"]}},
            InvalidRequestError,
            "title: can't be blank, is too short",
        ),
        (400, {"error": "title is missing"}, InvalidRequestError, "title is missing"),
        (401, {"message": "401 Unauthorized"}, AuthenticationError, "401 Unauthorized"),
        (
            401,
            {
                "error": "invalid_token",
                "error_description": "Token is expired.",
            },
            AuthenticationError,
            "invalid_token; Token is expired.",
        ),
        (403, {"message": "403 Forbidden"}, PermissionDeniedError, "403 Forbidden"),
        (
            403,
            {
                "error": "insufficient_scope",
                "error_description": "The request requires higher privileges.",
                "scope": "api read_api",
            },
            PermissionDeniedError,
            "the token lacks the scope `api read_api`",
        ),
        (
            404,
            {"message": "404 Project Not Found"},
            NotFoundError,
            "404 Project Not Found",
        ),
        (
            409,
            {"message": ["Another open merge request already exists for this: !5"]},
            AlreadyExistsError,
            "Another open merge request already exists for this: !5",
        ),
        (
            409,
            {"message": "SHA does not match HEAD of source branch: 1"},
            InvalidRequestError,
            "SHA does not match HEAD of source branch: 1",
        ),
        (
            409,
            {"message": "409 Conflict: Resource lock"},
            ServiceUnavailableError,
            "409 Conflict: Resource lock",
        ),
        (410, {"message": "410 Gone"}, NotFoundError, "410 Gone"),
        (422, {"message": "Unprocessable"}, InvalidRequestError, "Unprocessable"),
        (500, {"message": "500 Oops"}, ServiceUnavailableError, "500 Oops"),
    ],
)
def test_answer_becomes_our_error(
    client: GitLabClient,
    answers: responses.RequestsMock,
    *,
    status: int,
    body: object,
    kind: type[ServiceError],
    words: str,
) -> None:
    error = refusal(client, answers, status, json.dumps(body))
    assert type(error) is kind
    assert str(error) == f"GitLab answered {status}: {words}"


def test_fields_that_are_wrong_are_named(
    client: GitLabClient, answers: responses.RequestsMock
) -> None:
    body = json.dumps({"message": {"title": ["is bad"], "labels": ["are bad"]}})
    error = refusal(client, answers, 422, body)
    assert isinstance(error, InvalidRequestError)
    assert error.fields == {"title", "labels"}


@pytest.mark.parametrize(
    ("status", "headers", "wait"),
    [
        (429, {"Retry-After": "30", "RateLimit-Reset": "9"}, timedelta(seconds=30)),
        (403, {"Retry-After": "30"}, timedelta(seconds=30)),
        (
            429,
            {"Retry-After": format_datetime(NOW + timedelta(hours=1), usegmt=True)},
            timedelta(hours=1),
        ),
        (
            429,
            {"RateLimit-Reset": str(int(NOW.timestamp()) + 120)},
            timedelta(minutes=2),
        ),
        (429, {"Retry-After": "soon"}, timedelta(minutes=1)),
        (429, {}, timedelta(minutes=1)),
    ],
)
def test_limit_says_how_long(
    client: GitLabClient,
    answers: responses.RequestsMock,
    *,
    status: int,
    headers: dict[str, str],
    wait: timedelta,
) -> None:
    error = refusal(client, answers, status, "Retry later", headers)
    assert isinstance(error, RateLimitedError)
    assert error.until == NOW + wait


def test_limit_is_waited_for(
    client: GitLabClient, answers: responses.RequestsMock
) -> None:
    answers.post(ISSUES, "Retry later", status=429, headers={"Retry-After": "20"})
    answers.post(ISSUES, json={"iid": 1, "title": "Broken"}, status=201)
    assert client.ask(APP, open_issue) == "Broken"
    assert client.clock.now() == NOW + timedelta(seconds=20)


@pytest.mark.parametrize("body", ["", "null", "[]", "<html>", '"x"', "{}", "[" * 9999])
def test_answer_without_an_explanation_is_no_crash(
    client: GitLabClient, answers: responses.RequestsMock, body: str
) -> None:
    error = refusal(client, answers, 502, body)
    assert str(error) == "GitLab answered 502: no explanation"


def test_page_of_a_proxy_is_no_answer(
    client: GitLabClient, answers: responses.RequestsMock
) -> None:
    page = "<html><title>Corporate sign-on</title></html>"
    answers.get(PROJECT, page, content_type="text/html; charset=utf-8")
    with pytest.raises(ServiceError) as refused:
        client.ask(APP, fetch_project)
    assert str(refused.value) == (
        "a web page (Corporate sign-on) came in place of an answer of GitLab's API: "
        "gitlab.base_url leads to something else, or a proxy answers for it"
    )


def test_field_that_is_missing_is_no_crash(
    client: GitLabClient, answers: responses.RequestsMock
) -> None:
    answers.post(ISSUES, json={"iid": 1}, status=201)
    with pytest.raises(ServiceError, match="has an unexpected shape"):
        client.ask(APP, open_issue)


def test_fault_of_ours_is_not_called_a_fault_of_gitlab(client: GitLabClient) -> None:
    with pytest.raises(AttributeError):
        client.ask(APP, lambda _project: "text".missing)  # type: ignore[attr-defined]


def test_read_follows_a_renamed_project(
    client: GitLabClient, answers: responses.RequestsMock
) -> None:
    place = {"location": f"{ROOT}/api/v4/projects/7?statistics=true"}
    answers.get(PROJECT, status=301, headers=place)
    answers.get(f"{ROOT}/api/v4/projects/7", json={"id": 7, "path": "shop"})
    path = client.ask(APP, fetch_project)
    assert path.path == "shop"
    first, second = (call.request for call in answers.calls)
    assert first.headers["Authorization"] == second.headers["Authorization"]
    assert str(second.url).endswith("?statistics=true")


def test_write_finds_a_renamed_project(
    client: GitLabClient, answers: responses.RequestsMock
) -> None:
    words = "405 Method Not Allowed - Non GET methods are not allowed for moved project"
    answers.post(ISSUES, json={"message": words}, status=405)
    answers.get(PROJECT, status=301, headers={"location": f"{ROOT}/api/v4/projects/7"})
    answers.get(f"{ROOT}/api/v4/projects/7", json={"id": 7})
    moved = f"{ROOT}/api/v4/projects/7/issues"
    answers.post(moved, json={"iid": 1, "title": "Broken"}, status=201)
    assert client.ask(APP, open_issue) == "Broken"
    # From then on it is called by its number at once.
    assert client.ask(APP, open_issue) == "Broken"
    assert [call.request.url for call in answers.calls][-2:] == [moved, moved]


@pytest.mark.parametrize(
    "target",
    [
        "https://other.example/api/v4/projects/7",
        "https://git.corp.example/gitlab/users/sign_in?token=secret",
        "http://git.corp.example/gitlab/api/v4/projects/7",
        "https://git.corp.example/gitlab/api/v40/projects/7",
    ],
)
def test_redirect_to_elsewhere_is_refused(
    client: GitLabClient, answers: responses.RequestsMock, target: str
) -> None:
    answers.get(PROJECT, status=302, headers={"location": target})
    with pytest.raises(ServiceError) as refused:
        client.ask(APP, fetch_project)
    shown = target.partition("?")[0]
    assert str(refused.value) == (
        f"GitLab redirects from gitlab.base_url ({ROOT}) to {shown}: "
        "set it to the address that people see in their browser"
    )
    assert len(answers.calls) == 1


def test_write_is_never_redirected(
    client: GitLabClient, answers: responses.RequestsMock
) -> None:
    place = {"location": f"{ROOT}/api/v4/projects/7/issues"}
    error = refusal(client, answers, 301, headers=place)
    assert "redirects from gitlab.base_url" in str(error)


def test_next_page_is_asked_where_the_first_was(
    client: GitLabClient, answers: responses.RequestsMock
) -> None:
    inside = "http://gitlab-webservice:8181/gitlab/api/v4/projects/1/issues?page=2"
    answers.get(
        ISSUES,
        json=[{"iid": 1}],
        headers={"Link": f'<{inside}>; rel="next"', "X-Next-Page": "2"},
    )
    answers.get(f"{ROOT}/api/v4/projects/1/issues", json=[{"iid": 2}])
    found = client.ask(
        APP, lambda one: [each.iid for each in one.issues.list(all=True)]
    )
    assert found == [1, 2]


def test_token_of_a_netrc_file_is_not_sent(
    answers: responses.RequestsMock,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    netrc = tmp_path_factory.mktemp("home") / "netrc"
    netrc.write_text("machine git.corp.example login ann password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    answers.get(f"{ROOT}/api/v4/version", json={"version": "18.0"})
    connection = GitLabConnection(GitLabAddresses(base_url=ROOT), FakeClock().now)
    with connection.open_client("") as nobody:
        nobody.http_get("/version")
    assert "Authorization" not in answers.calls[0].request.headers
