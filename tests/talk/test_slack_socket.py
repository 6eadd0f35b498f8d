"""Deliveries that come through a connection of ours to Slack."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text
from structlog.testing import capture_logs

from tests.fakes.llm.turns import Script
from tests.fakes.slack.fake import FakeSlack
from tests.fakes.slack_socket import FakeSocketMode, Line
from tests.flow.office import Office, in_office
from tests.flow.story import REPO, fix_turns
from tests.provision.waiting import wait_until

APP_TOKEN = "xapp-1-A1-story"
WITHIN_S = 10


@dataclass
class Connected:
    """An office to which Slack speaks through a connection alone."""

    office: Office
    socket: FakeSocketMode
    line: Line

    def ask(self, wish: str, thread: str = "") -> str:
        """Say it to the bot; Slack has not told the service of it yet."""
        return self.office.slack.ask(wish, thread=thread)

    def tell(self) -> str:
        """Send what happened last through the connection; return the envelope's id."""
        payload = json.loads(self.office.slack.fake.deliveries[-1].body)
        return self.line.deliver("events_api", payload)


@contextmanager
def connected(folder: Path, turns: Script) -> Iterator[Connected]:
    settings = {
        "PATCHWRIGHT_SLACK__APP_TOKEN": APP_TOKEN,
        "PATCHWRIGHT_SLACK__SIGNING_SECRET": "",
    }
    slack = FakeSlack()
    with FakeSocketMode(APP_TOKEN) as socket:
        slack.connect_by(socket.open)
        with in_office(folder, turns, settings=settings, slack=slack) as office:
            slack.send_to("")
            yield Connected(office, socket, socket.next_line())


def test_a_mention_that_comes_through_the_connection_ends_in_a_pull_request(
    tmp_path: Path,
) -> None:
    with connected(tmp_path, fix_turns()) as connection:
        thread = connection.ask(f"please fix the sum in {REPO}")
        envelope = connection.tell()
        assert connection.socket.next_answer() == {"envelope_id": envelope}
        story = connection.office.story
        story.work()
        assert len(story.github.pull_requests(REPO)) == 1
        (status, call) = connection.office.slack.shown(thread)
        assert "*Done, proven*" in status
        assert "pull request" in call


def test_what_cannot_be_stored_is_not_acknowledged_and_makes_one_run_when_it_can(
    tmp_path: Path,
) -> None:
    with connected(tmp_path, fix_turns()) as connection:
        thread = connection.ask(f"please fix the sum in {REPO}")
        with capture_logs() as said, _no_deliveries_table(connection):
            connection.tell()
            wait_until(lambda: _is_refused(said), "the refusal", WITHIN_S)
        assert connection.socket.acknowledged.empty()
        # Slack does not know whether it was taken in, and sends it again; twice even.
        for _ in range(2):
            envelope = connection.tell()
            assert connection.socket.next_answer() == {"envelope_id": envelope}
        connection.office.story.work()
        assert len(connection.office.story.jobs()) == 1
        assert len(connection.office.story.github.pull_requests(REPO)) == 1
        assert len(connection.office.slack.runs(thread)) == 1
        assert len(connection.office.slack.calls(thread)) == 1


def test_the_home_tab_and_the_field_of_repositories_are_answered_through_it(
    tmp_path: Path,
) -> None:
    with connected(tmp_path, []) as connection:
        slack = connection.office.slack
        slack.fake.open_home(slack.jo)
        envelope = connection.tell()
        assert connection.socket.next_answer() == {"envelope_id": envelope}
        wait_until(lambda: slack.jo in slack.fake.world.homes, "the tab", WITHIN_S)
        assert "alice" in slack.fake.home(slack.jo).shown


@contextmanager
def _no_deliveries_table(connection: Connected) -> Iterator[None]:
    """Let the database refuse whatever is delivered."""
    database = connection.office.story.base.database
    with database.writing() as writer:
        writer.execute(text("ALTER TABLE deliveries RENAME TO hidden"))
    yield
    with database.writing() as writer:
        writer.execute(text("ALTER TABLE hidden RENAME TO deliveries"))


def _is_refused(said: Sequence[Mapping[str, object]]) -> bool:
    return any(one["event"] == "envelope_refused" for one in said)
