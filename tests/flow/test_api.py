"""Programs ask, answer and read by the API, and so does a browser that is signed in."""

import re
from pathlib import Path

import pytest

from patchwright.client import ApiProblemError, Client
from tests.adapters.web.browser import forms_on
from tests.fakes.llm.turns import call
from tests.flow.script import in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.visitor import ADMIN_TOKEN, TEXT, Visitor, visiting

PLAN = call("finish", summary="A plan.", answer="1. Test it.\n2. Fix it.")


def post(visitor: Visitor, path: str, body: object, **headers: str) -> dict[str, str]:
    """Send what a script of our own page would send."""
    story = visitor.story
    answer = visitor.browser.post(
        f"{story.url}{path}", json=body, headers={"origin": story.url, **headers}
    )
    assert answer.status_code == 202, answer.text
    accepted: dict[str, str] = answer.json()
    return accepted


def test_a_request_by_the_api_ends_in_a_pull_request(tmp_path: Path) -> None:
    with visiting(tmp_path, fix_turns()) as (story, visitor, _):
        visitor.sign_in("alice")
        wanted = {"repository": REPO, "text": TEXT}
        asked = post(visitor, "/api/conversations", wanted)
        story.work()
        with Client(story.url, ADMIN_TOKEN) as client:
            run = client.read_run(asked["run_id"])
            assert (run.outcome, run.proof) == ("resolved", "proven")
            assert run.requester == "alice"
            assert run.pull_request_url.endswith("/pull/1")
            assert "+    return sum(" in client.read_diff(run.conversation_id)
            kinds = [
                one.payload.kind for one in client.stream_events(run.conversation_id)
            ]
            assert kinds[0] == "state_changed"
            assert "outcome_reached" in kinds
            report = client.read_spend(by="repository")
            assert [one.name for one in report.items] == [REPO]
            assert client.read_spend(by="person").spent_usd == report.spent_usd
        assert len(story.github.pull_requests(REPO)) == 1


def test_a_plan_is_approved_by_an_administrator(tmp_path: Path) -> None:
    with visiting(tmp_path, in_turn(PLAN, *fix_turns())) as (story, visitor, _):
        visitor.sign_in("alice")
        wanted = {"repository": REPO, "text": TEXT, "plan_first": True}
        asked = post(visitor, "/api/conversations", wanted)
        story.work()
        with Client(story.url, ADMIN_TOKEN) as client:
            waiting = client.read_run(asked["run_id"])
            assert (waiting.state, waiting.waits_for) == ("waiting", "plan")
            assert "2. Fix it." in waiting.summary
            with pytest.raises(ApiProblemError) as refused:
                client.resume(waiting.conversation_id)
            assert refused.value.status == 409
            client.approve(waiting.conversation_id)
            story.work()
            ended = client.read_conversation(waiting.conversation_id).run
        assert ended.outcome == "resolved"


def test_who_may_not_write_is_refused_and_a_stranger_sees_nothing(
    tmp_path: Path,
) -> None:
    with visiting(tmp_path, fix_turns()) as (story, visitor, other):
        visitor.sign_in("alice")
        wanted = {"repository": REPO, "text": TEXT}
        asked = post(visitor, "/api/conversations", wanted)
        path = f"{story.url}/api/conversations/{asked['conversation_id']}"
        headers = {"origin": story.url}
        assert other.browser.get(path).status_code == 401
        other.sign_in("eve")
        # The repository is public: everybody reads it.
        assert other.browser.get(path).status_code == 200
        stopped = other.browser.post(f"{path}/stop", json={}, headers=headers)
        assert stopped.status_code == 403
        assert "write access" in stopped.json()["detail"]
        evil = {"origin": "https://evil.example"}
        assert visitor.browser.post(f"{path}/stop", json={}, headers=evil).is_error
        post(visitor, f"/api/conversations/{asked['conversation_id']}/stop", {})


def test_a_token_of_an_account_asks_and_steers_as_its_person(tmp_path: Path) -> None:
    with visiting(tmp_path, fix_turns()) as (story, visitor, _):
        visitor.sign_in("alice")
        token = make_token(visitor, "write")
        with Client(story.url, token) as client:
            account = client.read_account()
            assert (account.name, account.role) == ("alice", "member")
            asked = client.start_conversation(REPO, TEXT, key="once")
            assert client.start_conversation(REPO, TEXT, key="once") == asked
            story.work()
            assert client.read_run(asked.run_id or "").outcome == "resolved"
            assert client.retry(asked.conversation_id or "").verdict == "accepted"
            with pytest.raises(ApiProblemError) as refused:
                client.read_spend()
            assert refused.value.status == 403
        with (
            Client(story.url, make_token(visitor, "read")) as reader,
            pytest.raises(ApiProblemError) as refused,
        ):
            reader.stop(asked.conversation_id or "")
        assert refused.value.status == 403
        assert "token may hold less" in refused.value.problem.detail


def make_token(visitor: Visitor, scope: str) -> str:
    """Make an API token on the page of the account, and return it."""
    address = f"{visitor.story.url}/account"
    (form,) = (
        one
        for one in forms_on(visitor.browser.get(address))
        if one.action.endswith("/account/tokens")
    )
    wanted = {**form.fields, "name": scope, "scope": scope, "days": "30"}
    made = visitor.browser.post(f"{address}/tokens", data=wanted)
    (token,) = re.findall(r"pwt_[\w-]{40,}", made.text)
    return str(token)
