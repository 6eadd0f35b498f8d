"""Slack or Jira away when the service starts: everything else goes on without them."""

import json
import socket
from pathlib import Path

import pytest

from tests.fakes.jira.fake import FakeJira
from tests.fakes.jira.state import Delivery
from tests.fakes.jira.webhooks import deliver
from tests.fakes.slack_socket import FakeSocketMode
from tests.flow.story import REPO, fix_turns
from tests.service.offices import PROJECT, SECRET, address, jira_settings, slack_office
from tests.service.stage import Stage, staged

PROMPT_S = 8.0
APP_TOKEN = "xapp-1-A1-service"
NOT_READY, ACCEPTED = 503, 202


pytestmark = pytest.mark.talk


def test_a_connection_to_slack_that_is_refused_at_first_is_made_later(
    tmp_path: Path,
) -> None:
    with slack_office() as slack, FakeSocketMode(APP_TOKEN) as lines:
        settings = {
            **slack.settings,
            "PATCHWRIGHT_SLACK__SIGNING_SECRET": "",
            "PATCHWRIGHT_SLACK__APP_TOKEN": APP_TOKEN,
        }
        with (
            staged(tmp_path, fix_turns(), settings, private=True) as stage,
            stage.serving("all") as service,
        ):
            service.wait_until_ready()
            stage.wait(lambda: service.has_said("not_reached"), "the refusal")
            slack.fake.connect_by(lines.open)
            line = lines.next_line()
            slack.fake.mention(slack.jo, slack.channel, f"fix the sum in {REPO}")
            told = json.loads(slack.fake.deliveries[-1].body)
            envelope = line.deliver("events_api", told)
            assert lines.next_answer() == {"envelope_id": envelope}
            stage.wait(lambda: _has_pull_request(stage), "the pull request")
            assert service.stop() < PROMPT_S


def test_a_slack_that_does_not_answer_holds_up_neither_start_nor_end(
    tmp_path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = {
            "PATCHWRIGHT_SLACK__API_URL": f"http://127.0.0.1:{_port(silent)}/api",
            "PATCHWRIGHT_SLACK__BOT_TOKEN": "xoxb-1",
            "PATCHWRIGHT_SLACK__APP_TOKEN": APP_TOKEN,
        }
        with staged(tmp_path, [], settings) as stage, stage.serving("all") as service:
            service.wait_until_ready()
            connection, _ = silent.accept()
            with connection:
                assert service.stop() < PROMPT_S


def test_a_jira_that_is_away_is_not_heard_before_it_tells_who_we_are(
    tmp_path: Path,
) -> None:
    # It listens from here on, and answers within its block.
    jira = FakeJira()
    ann = jira.add_user("ann", "Ann Lee")
    jira.add_project(PROJECT)
    jira.add_webhook(SECRET)
    key = jira.create(PROJECT, ann, "Wrong sum", "Three pieces cost 450.")
    jira.comment(key, ann, "@patchwright help")
    asked = jira.delivery("comment_created")
    settings = jira_settings(jira, ann)
    with (
        staged(tmp_path, fix_turns(), settings, private=True) as stage,
        stage.serving("all") as service,
    ):
        service.wait_until_ready()
        url = address(service, "jira")
        refused = deliver(asked, url)
        assert (refused.status, refused.body) == (NOT_READY, b'{"status":"not-ready"}')
        assert not stage.finish(stage.ask(service)).draft
        with jira:
            stage.wait(lambda: _is_taken(asked, url), "Jira's door")
            stage.wait(lambda: _is_answered(jira, key), "the answer")
        assert service.stop() < PROMPT_S


def _is_taken(delivery: Delivery, url: str) -> bool:
    return deliver(delivery, url).status == ACCEPTED


def _is_answered(jira: FakeJira, key: str) -> bool:
    return any(one.author == jira.bot for one in jira.comments(key))


def _has_pull_request(stage: Stage) -> bool:
    return bool(stage.github.pull_requests(REPO))


def _port(server: socket.socket) -> int:
    return int(server.getsockname()[1])
