"""What the API tells of runs and conversations, and to whom."""

import httpx
import pytest

from patchwright.client import ApiProblemError
from patchwright.core.events.actions import RunCommand
from tests.adapters.api.serving import (
    ADMIN,
    READER,
    STRANGER,
    VIEWER,
    WRITER,
    ApiSite,
)
from tests.adapters.store.world import ISSUE, trigger
from tests.adapters.web.watching import DIFF, append, begin_run

READING = (
    "/api/conversations/{id}",
    "/api/conversations/{id}/events",
    "/api/conversations/{id}/events/stream",
    "/api/conversations/{id}/trajectory",
    "/api/conversations/{id}/diff",
    "/api/conversations/{id}/config",
)


def test_a_run_is_told_with_its_result(site: ApiSite) -> None:
    job_id = site.end_one()
    with site.client(READER) as client:
        run = client.read_run(job_id)
    assert (run.id, run.state, run.outcome) == (job_id, "ended", "resolved")
    assert (run.proof, run.repository) == ("proven", "acme/shop")
    assert (run.thread, run.requester) == ("acme/shop#7", "alice")
    assert run.pull_request_url == "https://github.test/pull/12"
    assert [one.role for one in run.evidence] == ["before", "after"]
    assert run.limits is not None
    assert run.limits.max_cost_usd == 3.0


def test_a_conversation_has_its_threads_and_runs(site: ApiSite) -> None:
    job_id = site.end_one()
    with site.client(READER) as client:
        (listed,) = client.list_conversations()
        told = client.read_conversation(listed.id)
        diff = client.read_diff(listed.id)
        configuration = client.read_configuration(listed.id)
        trajectory = client.read_trajectory(listed.id)
    assert (listed.title, listed.repository) == ("It is broken", "acme/shop")
    assert told.run_ids == (job_id,)
    assert [one.name for one in told.threads] == ["#7"]
    assert diff == DIFF
    assert configuration.limits.max_iterations == 50
    assert trajectory.format == "patchwright-trajectory"
    assert len(trajectory.events) == 12


def test_lists_come_in_pages_the_newest_first(site: ApiSite) -> None:
    world, ids = site.world, []
    for number in range(5):
        asked = trigger(f"k{number}")
        thread = ISSUE.replace(number=100 + number)
        ids.append(world.deliver(asked.replace(thread=thread)).job_id)
        world.clock.advance(1)
    found, path = [], "/api/runs?limit=2"
    while path:
        answer = site.ask("GET", path)
        found += [one["id"] for one in answer.json()["items"]]
        following = answer.links.get("next", {}).get("url", "")
        path = f"/api/{following}" if following else ""
        assert answer.json()["next"] is None or path
    assert found == ids[::-1]
    with site.client(READER) as client:
        assert [one.id for one in client.list_runs(state="queued")] == ids[::-1]
        assert list(client.list_runs(state="ended")) == []
        assert list(client.list_runs(repository="acme/other")) == []
        assert [one.name for one in client.list_repositories()] == ["acme/shop"]


def test_events_come_by_number_kind_and_direction(site: ApiSite) -> None:
    job_id = site.end_one()
    path = f"/api/conversations/{site.conversation(job_id)}/events"

    def ids(query: str) -> tuple[list[int], int | None]:
        answer = site.ask("GET", f"{path}?{query}").json()
        return [one["id"] for one in answer["items"]], answer["next_id"]

    assert ids("limit=3") == ([1, 2, 3], 4)
    assert ids("start_id=11") == ([11, 12], None)
    assert ids("reverse=true&limit=2") == ([12, 11], 10)
    assert ids("reverse=true&end_id=2") == ([2, 1], None)
    assert ids("kind=run_command&kind=edit_file") == ([7, 10], None)
    assert ids("kind=no_such_kind") == ([], None)
    with site.client() as client:
        every = list(client.read_events(site.conversation(job_id)))
    assert [one.id for one in every] == list(range(1, 13))
    assert every[6].payload.kind == "run_command"


@pytest.mark.parametrize("token", [STRANGER, ADMIN.replace("admin", "viewer"), ""])
def test_a_stranger_learns_nothing(lite_site: ApiSite, token: str) -> None:
    job_id = lite_site.end_one()
    expected = 404 if token else 401
    for path in READING:
        own = path.format(id=lite_site.conversation(job_id))
        none = path.format(id="0" * 32)
        answers = [lite_site.ask("GET", one, token=token) for one in (own, none)]
        assert [one.status_code for one in answers] == [expected, expected], own
        assert answers[0].json() == answers[1].json()
    assert (
        lite_site.ask("GET", f"/api/runs/{job_id}", token=token).status_code == expected
    )
    if token:
        for path in ("/api/runs", "/api/conversations", "/api/repositories"):
            assert lite_site.ask("GET", path, token=token).json()["items"] == []


def test_a_run_of_another_conversation_is_not_told_by_way_of_ours(
    lite_site: ApiSite,
) -> None:
    ours = lite_site.end_one()
    asked = trigger("other")
    elsewhere = ISSUE.replace(number=99)
    other = lite_site.world.deliver(asked.replace(thread=elsewhere)).job_id
    path = f"/api/conversations/{lite_site.conversation(ours)}/diff?run={other}"
    assert lite_site.ask("GET", path).status_code == 404
    assert lite_site.ask("GET", path.replace(str(other), ours)).status_code == 200


def test_a_viewer_reads(lite_site: ApiSite) -> None:
    job_id = lite_site.end_one()
    with lite_site.client(VIEWER) as client:
        assert client.read_run(job_id).state == "ended"
        assert client.read_account().role == "viewer"


@pytest.mark.parametrize("path", ["/api/settings", "/api/spend"])
def test_only_admins_read_settings_and_spend(site: ApiSite, path: str) -> None:
    assert site.ask("GET", path, token=WRITER).status_code == 403
    assert site.ask("GET", path, token="").status_code == 401
    assert site.ask("GET", path).status_code == 200


def test_settings_are_told_without_the_secrets(lite_site: ApiSite) -> None:
    answer = lite_site.ask("GET", "/api/settings")
    settings = {one["key"]: one for one in answer.json()["items"]}
    assert settings["server.public_url"]["value"] == lite_site.url
    assert settings["limits.max_cost_usd"]["value"] == 3.0
    for key in ("security.admin_token", "github.token", "database.url"):
        assert settings[key]["value"] is None
        assert settings[key]["is_secret"]
        assert settings[key]["is_set"], key
    assert not settings["security.session_secret"]["is_set"]
    assert "a-secret-of" not in answer.text


@pytest.mark.parametrize(
    "query",
    [
        "cursor=x",
        "cursor=%00",
        "cursor=bm90IGpzb24",
        f"cursor={'a' * 500}",
        "limit=0",
        "limit=201",
        "limit=many",
        "state=sleeping",
        "repository=a%00b",
    ],
)
def test_what_makes_no_sense_is_told_by_name(lite_site: ApiSite, query: str) -> None:
    answer = lite_site.ask("GET", f"/api/runs?{query}")
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    (error,) = answer.json()["errors"]
    assert error["where"] == query.partition("=")[0]


def test_an_address_that_is_not_there_is_a_problem_too(lite_site: ApiSite) -> None:
    missing = lite_site.ask("GET", "/api/nothing")
    assert (missing.status_code, missing.json()["code"]) == (404, "not-found")
    wrong = lite_site.ask("DELETE", "/api/runs")
    assert wrong.status_code == 405
    assert set(wrong.headers["allow"].split(", ")) == {"GET", "HEAD"}
    assert wrong.json()["code"] == "method-not-allowed"
    # Elsewhere it stays as it is.
    assert lite_site.ask("GET", "/nothing").json() == {"detail": "Not Found"}


def test_a_run_that_has_not_begun_has_no_log_yet(lite_site: ApiSite) -> None:
    job_id = lite_site.world.ask()
    found = lite_site.conversation(job_id)
    with lite_site.client() as client:
        assert client.read_diff(found) == ""
        for read in (client.read_trajectory, client.read_configuration):
            with pytest.raises(ApiProblemError) as refused:
                read(found)
            assert refused.value.status == 404
        assert client.read_run(job_id).limits is None


def test_a_run_at_work_tells_how_far_it_is(lite_site: ApiSite) -> None:
    job_id, _ = begin_run(lite_site.world)
    append(lite_site.world, job_id, RunCommand(command="make"))
    with lite_site.client() as client:
        (run,) = client.list_runs()
    assert (run.state, run.steps) == ("running", 3)
    assert run.usage.cost_usd == pytest.approx(0.41)


def test_what_is_no_answer_of_the_api_is_an_error_with_its_status(
    lite_site: ApiSite,
) -> None:
    with lite_site.client() as client, pytest.raises(ApiProblemError) as refused:
        client.read_run("../../healthz/x")
    assert (refused.value.status, refused.value.code) == (404, "unknown")


def test_answers_are_not_kept_by_browsers(lite_site: ApiSite) -> None:
    answer: httpx.Response = lite_site.ask("GET", "/api/account")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
