"""Runs are started and steered by the API: once, and only by those who may."""

import json
from collections.abc import Mapping

import pytest

from patchwright.client import ApiProblemError
from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.triggers import TriggerKind
from patchwright.resolver.job import Job
from patchwright.workers.db.tables import deliveries
from tests.adapters.api.serving import (
    ADMIN,
    READER,
    STRANGER,
    VIEWER,
    WRITER,
    ApiSite,
)
from tests.adapters.web.watching import begin_run

STEERING: Mapping[str, Mapping[str, str]] = {
    "message": {"text": "Use the other file."},
    "approve": {},
    "reject": {"reason": "no"},
    "confirm": {},
    "stop": {},
    "pause": {},
    "resume": {},
    "retry": {},
    "budget": {"amount": "+2"},
}
ASKED = {"repository": "acme/shop", "text": "Fix the total.\n\nIt is wrong."}


def job_of(site: ApiSite, run_id: str | None) -> Job:
    job = site.world.jobs.load(run_id) if run_id else None  # type: ignore[arg-type]
    assert job is not None
    return job


def stored(site: ApiSite) -> int:
    """Count what has come by the API."""
    rows = site.world.rows(deliveries)
    return len([one for one in rows if one["service"] == "api"])


def test_a_request_starts_a_run(site: ApiSite) -> None:
    with site.client(READER) as client:
        accepted = client.start_conversation("acme/shop", ASKED["text"])
        run = client.read_run(accepted.run_id or "")
    assert accepted.verdict == "accepted"
    assert accepted.conversation_id == run.conversation_id
    assert (run.state, run.title) == ("queued", "Fix the total.")
    assert site.dispatched == [accepted.run_id]
    trigger = job_of(site, accepted.run_id).trigger
    assert trigger.thread.kind is ThreadKind.REQUEST
    assert (trigger.actor.login, trigger.body) == ("reader", ASKED["text"])


def test_a_request_may_be_about_an_issue_and_want_a_plan(site: ApiSite) -> None:
    address = "https://github.test/acme/shop/issues/12"
    with site.client(READER) as client:
        accepted = client.start_conversation(address, "Please", plan_first=True)
    trigger = job_of(site, accepted.run_id).trigger
    assert str(trigger.thread) == "github:acme/shop#12"
    assert (trigger.kind, trigger.request) == (
        TriggerKind.COMMENT_MENTION,
        "plan Please",
    )


def test_the_same_key_and_body_is_one_request(site: ApiSite) -> None:
    with site.client(READER) as client:
        first, second = (
            client.start_conversation(**ASKED, key="k")  # type: ignore[arg-type]
            for _ in range(2)
        )
        assert first == second
        other = client.start_conversation(**ASKED, key="other")  # type: ignore[arg-type]
    assert other.run_id != first.run_id
    # The keys of others are not ours.
    with site.client(WRITER) as client:
        theirs = client.start_conversation(**ASKED, key="k")  # type: ignore[arg-type]
    assert theirs.run_id not in (first.run_id, other.run_id)
    assert stored(site) == 3


def test_the_same_key_with_another_body_is_refused(site: ApiSite) -> None:
    with site.client(READER) as client:
        client.start_conversation(**ASKED, key="k")  # type: ignore[arg-type]
        with pytest.raises(ApiProblemError) as refused:
            client.start_conversation("acme/shop", "Something else", key="k")
    assert (refused.value.status, refused.value.code) == (422, "key-used")
    assert stored(site) == 1


def test_a_message_joins_the_run_once(site: ApiSite) -> None:
    job_id, _ = begin_run(site.world)
    found = site.conversation(job_id)
    with site.client(WRITER) as client:
        told = [client.send_message(found, "Use cart.py.", key="m") for _ in "12"]
        with pytest.raises(ApiProblemError) as refused:
            client.send_message(found, "Use shop.py.", key="m")
    assert [(one.run_id, one.verdict) for one in told] == [(job_id, "joined")] * 2
    assert refused.value.code == "key-used"
    messages = [one for one in site.world.log(job_id) if one.payload.kind == "message"]
    assert [one.payload.text for one in messages] == ["Use cart.py."]  # type: ignore[union-attr]


def test_an_admin_without_an_account_on_the_forge_steers_and_does_not_ask(
    site: ApiSite,
) -> None:
    job_id, _ = begin_run(site.world)
    with site.client(ADMIN) as client:
        assert client.stop(site.conversation(job_id)).verdict == "joined"
        with pytest.raises(ApiProblemError) as refused:
            client.start_conversation(**ASKED)  # type: ignore[arg-type]
    assert refused.value.status == 403
    assert "whom the forge knows" in refused.value.problem.detail


def test_an_ended_run_is_retried_once(site: ApiSite) -> None:
    job_id = site.end_one()
    with site.client(ADMIN) as client:
        first, second = (
            client.retry(site.conversation(job_id), key="r") for _ in range(2)
        )
    assert first == second
    assert first.run_id not in (None, job_id)


def test_what_makes_no_sense_now_is_a_conflict(site: ApiSite) -> None:
    job_id = site.end_one()
    with site.client(WRITER) as client, pytest.raises(ApiProblemError) as refused:
        client.stop(site.conversation(job_id))
    assert (refused.value.status, refused.value.code) == (409, "wrong-moment")
    assert "has ended already" in refused.value.problem.detail


@pytest.mark.parametrize("act", STEERING)
@pytest.mark.parametrize(
    ("token", "status"), [("", 401), (VIEWER, 403), (READER, 403), (STRANGER, 404)]
)
def test_who_may_not_changes_nothing(
    lite_site: ApiSite, act: str, token: str, status: int
) -> None:
    job_id, _ = begin_run(lite_site.world)
    path = f"/api/conversations/{lite_site.conversation(job_id)}/{act}"
    answer = lite_site.ask("POST", path, token=token, json=STEERING[act])
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert stored(lite_site) == 0


@pytest.mark.parametrize(
    ("token", "status"), [("", 401), (VIEWER, 403), (STRANGER, 422)]
)
def test_who_may_not_starts_nothing(
    lite_site: ApiSite, token: str, status: int
) -> None:
    answer = lite_site.ask("POST", "/api/conversations", token=token, json=ASKED)
    assert answer.status_code == status
    assert stored(lite_site) == 0


def session(**headers: str) -> dict[str, str]:
    return {"x-session": WRITER, "content-type": "application/json", **headers}


FORGED: Mapping[str, dict[str, str]] = {
    "no origin": session(),
    "another origin": session(origin="https://evil.example"),
    "an origin that only begins so": session(origin="http://127.0.0.1.evil.example"),
    "an opaque origin": session(origin="null"),
    "another site": session(**{"sec-fetch-site": "cross-site"}),
    "the same site": session(**{"sec-fetch-site": "same-site"}),
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_cookie_alone_writes_nothing(lite_site: ApiSite, forged: str) -> None:
    job_id, _ = begin_run(lite_site.world)
    path = f"/api/conversations/{lite_site.conversation(job_id)}/stop"

    def send(headers: dict[str, str]) -> int:
        answer = lite_site.ask("POST", path, token="", headers=headers, content=b"{}")
        return answer.status_code

    assert send(FORGED[forged]) == 403
    # What a form of another site can send.
    assert send(session(origin=lite_site.url) | {"content-type": "text/plain"}) == 415
    assert stored(lite_site) == 0
    ours = {"sec-fetch-site": "same-origin"}
    assert send(session(origin=lite_site.url, **ours)) == 202


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{", "application/json", 422),
        (b"[" * 100_000, "application/json", 422),
        (b"[]", "application/json", 422),
        (b'{"text": 1}', "application/json", 422),
        (b'{"text": ""}', "application/json", 422),
        (b"\xff", "application/json", 422),
        (json.dumps({"text": "a" * 20_001}).encode(), "application/json", 422),
        (b'{"text": "a"}', "text/plain", 415),
        (b"a" * 300_000, "application/json", 413),
    ],
)
def test_bodies_that_make_no_sense(
    lite_site: ApiSite, content: bytes, kind: str, status: int
) -> None:
    job_id, _ = begin_run(lite_site.world)
    path = f"/api/conversations/{lite_site.conversation(job_id)}/message"
    headers = {"content-type": kind}
    answer = lite_site.ask("POST", path, token=WRITER, content=content, headers=headers)
    assert answer.status_code == status
    assert answer.json()["status"] == status
    assert stored(lite_site) == 0


def test_control_characters_do_not_reach_the_database(site: ApiSite) -> None:
    with site.client(READER) as client:
        accepted = client.start_conversation("acme/shop", "a\x00b\x1b[31mc")
        assert client.read_run(accepted.run_id or "").title == "ab[31mc"


@pytest.mark.parametrize("key", ["a b", "a" * 65])
def test_a_key_that_makes_no_sense_is_told(lite_site: ApiSite, key: str) -> None:
    headers = {"Idempotency-Key": key}
    path = "/api/conversations"
    answer = lite_site.ask("POST", path, token=READER, json=ASKED, headers=headers)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == "Idempotency-Key"
    assert stored(lite_site) == 0


@pytest.mark.parametrize("amount", ["", "-1", "much", "1e9", "+", "1.234"])
def test_a_budget_is_an_amount(lite_site: ApiSite, amount: str) -> None:
    job_id, _ = begin_run(lite_site.world)
    path = f"/api/conversations/{lite_site.conversation(job_id)}/budget"
    answer = lite_site.ask("POST", path, token=WRITER, json={"amount": amount})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == "body.amount"
