"""What Linear's people, programs and networks may not do, and what does no harm."""

from datetime import timedelta
from pathlib import Path

import httpx

from patchwright.integrations.linear.tokens import INSTALL_PATH
from tests.adapters.web.browser import browsing, text_of
from tests.fakes.linear.webhooks import deliver, signature
from tests.fakes.llm.turns import call
from tests.flow.linear import SECRET, TEAM, LinearOffice, in_linear
from tests.flow.script import in_turn
from tests.flow.story import REPO, fix_turns

ANSWER = call("finish", summary="Nothing to do.", answer="The empty cart is covered.")
QUESTION = "Cents, or euros?"


def test_who_may_not_write_is_refused_in_the_session(tmp_path: Path) -> None:
    with in_linear(tmp_path, in_turn()) as linear:
        key = linear.open()
        linear.fake.comment(key, linear.zoe, linear.call())
        linear.work()
        kind, text = linear.said(key)[-1]
        assert kind == "elicitation"
        assert REPO not in text
        assert linear.story.github.pull_requests(REPO) == []


def test_twenty_deliveries_of_one_request_are_one_run(tmp_path: Path) -> None:
    with in_linear(tmp_path, in_turn(ANSWER)) as linear:
        key = linear.open()
        linear.fake.comment(key, linear.ann, linear.call())
        sent = linear.fake.deliveries
        for _ in range(10):
            for one in sent:
                if one.event in ("Comment", "AgentSessionEvent"):
                    assert deliver(one, linear.url).status in (200, 202)
        linear.carried = len(sent)
        linear.story.work()
        assert len(linear.story.jobs()) == 1
        assert [kind for kind, _ in linear.said(key)] == ["response"]


def test_what_is_not_signed_or_is_old_is_refused(tmp_path: Path) -> None:
    with in_linear(tmp_path, in_turn()) as linear:
        key = linear.open()
        linear.fake.comment(key, linear.ann, linear.call())
        linear.carried = len(linear.fake.deliveries)
        found = linear.fake.delivery("Comment", "create")
        deliver(found, "http://127.0.0.1:1/nowhere")

        def send(body: bytes, secret: str = SECRET) -> int:
            headers = {
                "Linear-Signature": signature(secret, body),
                "Content-Type": "application/json",
            }
            return httpx.post(linear.url, content=body, headers=headers).status_code

        assert send(found.body, "another") == 401
        assert httpx.post(linear.url, content=found.body).status_code == 401
        foreign = found.body.replace(linear.fake.workspace.encode(), b"other")
        assert send(foreign) == 403
        linear.story.clock.advance(timedelta(minutes=3).total_seconds())
        assert send(found.body) == 401
        assert linear.story.jobs() == []


def test_an_edited_comment_asks_once(tmp_path: Path) -> None:
    with in_linear(tmp_path, in_turn(ANSWER)) as linear:
        key = linear.open()
        comment = linear.fake.comment(key, linear.ann, "Look at this.")
        linear.work()
        assert linear.story.jobs() == []
        for words in ("look", "look again"):
            linear.fake.edit_comment(comment, linear.ann, linear.call(words))
            linear.work()
        assert len(linear.story.jobs()) == 1
        linear.activities(key)


def test_a_moved_issue_goes_on_with_its_one_pull_request(tmp_path: Path) -> None:
    turns = in_turn(*fix_turns(), ANSWER)
    teams = {TEAM: REPO, "OPS": REPO}
    with in_linear(tmp_path, turns, teams=teams) as linear:
        linear.fake.add_team("OPS")
        key = linear.ask()
        linear.activities(key)
        moved = linear.fake.move_to_team(key, linear.ann, "OPS")
        assert moved == "OPS-1"
        linear.tell()
        linear.fake.comment(moved, linear.ann, linear.call("is it done?"))
        linear.work()
        first, second = linear.story.jobs()
        assert first.conversation_id == second.conversation_id
        assert len(linear.story.github.pull_requests(REPO)) == 1
        linear.activities(moved)


def test_an_issue_that_is_gone_stops_nothing_else(tmp_path: Path) -> None:
    with in_linear(tmp_path, in_turn(ANSWER)) as linear:
        gone = linear.open()
        linear.fake.remove(gone, linear.ann)
        key = linear.ask()
        assert linear.said(key)[-1][0] == "response"


def test_a_workspace_installs_the_app_and_is_answered(tmp_path: Path) -> None:
    with in_linear(tmp_path, in_turn(ANSWER), as_app=True) as linear:
        with browsing() as browser:
            asked = browser.get(linear.story.url + INSTALL_PATH)
            back = linear.fake.consent(asked.headers["location"], linear.ann)
            installed = browser.get(back)
        assert (installed.status_code, text_of(installed)) == (
            200,
            "Installed in Acme\nGo back to Linear and try it.",
        )
        key = linear.ask()
        assert linear.said(key)[-1][0] == "response"
        linear.fake.expire_tokens()
        linear.fake.prompt(key, linear.ann, "status")
        linear.work()
        linear.activities(key)


def test_a_stranger_cannot_install_it(tmp_path: Path) -> None:
    other = {"PATCHWRIGHT_LINEAR__WORKSPACES": '["globex"]'}
    with (
        in_linear(tmp_path, in_turn(), as_app=True, settings=other) as linear,
        browsing() as browser,
    ):
        asked = browser.get(linear.story.url + INSTALL_PATH)
        back = linear.fake.consent(asked.headers["location"], linear.ann)
        refused = browser.get(back)
        assert "acme cannot install the app" in text_of(refused)
        assert linear.story.base.secrets.names("linear") == ()


def test_our_own_words_start_nothing(tmp_path: Path) -> None:
    with in_linear(tmp_path, in_turn(*[QUESTION] * 3)) as linear:
        linear.ask()
        _run_dry(linear)
        assert len(linear.story.jobs()) == 1


def _run_dry(linear: LinearOffice) -> None:
    """Carry what our own work has caused, until it causes nothing more."""
    while linear.tell():
        linear.story.work()
    every = linear.fake.keys()
    for key in every:
        linear.activities(key)
