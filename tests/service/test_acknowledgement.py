"""S-68: who delivers hears at once that it is stored, though the broker is down."""

import base64
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.triggers import Trigger
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import jobs
from tests.fakes.jira.fake import FakeJira
from tests.fakes.jira.state import Delivery as JiraDelivery
from tests.fakes.jira.webhooks import deliver as deliver_jira
from tests.fakes.slack.sending import Delivery as SlackDelivery
from tests.fakes.slack.sending import headers_of, send
from tests.provision.redis_server import redis_server
from tests.provision.servers import free_port
from tests.service.offices import (
    PROJECT,
    SECRET,
    SlackOffice,
    address,
    jira_settings,
    slack_office,
)
from tests.service.processes import ServiceProcess
from tests.service.stage import Stage, staged

ACKNOWLEDGED_S = 0.3
SENDERS = 8
# A percentile of times says something only of a machine that does nothing else.
pytestmark = pytest.mark.alone
KEYS = f"k1:{base64.b64encode(bytes(range(32))).decode()}"
CLOCK = SystemClock()

Post = Callable[[], int]


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(60, marks=pytest.mark.talk),
        pytest.param(300, marks=pytest.mark.long),
    ],
)
def test_s68_slack_is_answered_in_time_and_everybody_later_without_a_broker(
    tmp_path: Path, count: int
) -> None:
    with slack_office() as slack:
        _without_a_broker(tmp_path, slack, count, {})


@pytest.mark.long
def test_s68_the_same_holds_for_postgresql(tmp_path: Path, postgres_url: str) -> None:
    shared = {
        "PATCHWRIGHT_DATABASE__URL": postgres_url,
        "PATCHWRIGHT_SECURITY__ENCRYPTION_KEYS": KEYS,
    }
    with slack_office() as slack:
        _without_a_broker(tmp_path, slack, 300, shared)


@pytest.mark.talk
def test_s68_jira_is_answered_in_time_without_a_broker(tmp_path: Path) -> None:
    with FakeJira() as jira:
        ann = jira.add_user("ann", "Ann Lee")
        jira.add_project(PROJECT)
        jira.add_webhook(SECRET)
        keys = [jira.create(PROJECT, ann, f"Sum {n}", "Wrong.") for n in range(20)]
        for key in keys:
            jira.comment(key, ann, "@patchwright help")
        asked = [one for one in jira.deliveries if one.event == "comment_created"]
        port = free_port()
        settings = {**jira_settings(jira, ann), **_broker(port)}
        with (
            staged(tmp_path, [], settings) as stage,
            stage.serving("all") as service,
        ):
            service.wait_until_ready()
            url = address(service, "jira")
            _are_in_time([_jira_post(one, url) for one in asked], status=202)
            with redis_server(port):
                stage.wait(
                    lambda: all(_count_answers(jira, key) for key in keys), "answers"
                )
        assert {_count_answers(jira, key) for key in keys} == {1}


def _without_a_broker(
    folder: Path, slack: SlackOffice, count: int, settings: dict[str, str]
) -> None:
    """Ask for help that many times, and have the broker come back after it."""
    port = free_port()
    asked = {slack.fake.mention(slack.jo, slack.channel, "help") for _ in range(count)}
    more = {**slack.settings, **settings, **_broker(port)}
    with staged(folder, [], more) as stage, stage.serving("all") as service:
        service.wait_until_ready()
        _are_in_time(_slack_posts(slack, service), status=200)
        assert _ended(stage) == []
        with redis_server(port):
            stage.wait(lambda: len(_ended(stage)) >= count, "the runs")
            service.stop()
        assert (len(_ended(stage)), set(_ended(stage))) == (count, asked)
        assert _answered(slack) == count


def _are_in_time(posts: Sequence[Post], status: int) -> None:
    """Send a third one after the other, and the rest from several senders at once."""
    alone = len(posts) // 3
    took = [_timed(post, status) for post in posts[:alone]]
    with ThreadPoolExecutor(SENDERS) as senders:
        took += senders.map(lambda post: _timed(post, status), posts[alone:])
    p99_s = sorted(took)[math.ceil(0.99 * len(took)) - 1]
    assert p99_s < ACKNOWLEDGED_S, sorted(took)[-5:]


def _timed(post: Post, status: int) -> float:
    began_at = CLOCK.monotonic()
    assert post() == status
    return CLOCK.monotonic() - began_at


def _slack_posts(slack: SlackOffice, service: ServiceProcess) -> list[Post]:
    url = address(service, "slack")
    return [_slack_post(slack, one, url) for one in slack.fake.deliveries]


def _slack_post(slack: SlackOffice, delivery: SlackDelivery, url: str) -> Post:
    headers = headers_of(slack.fake.world, delivery)
    return lambda: send(url, headers, delivery.body).status


def _jira_post(delivery: JiraDelivery, url: str) -> Post:
    return lambda: deliver_jira(delivery, url).status


def _answered(slack: SlackOffice) -> int:
    told = [one.shown for one in slack.fake.ephemerals(slack.jo)]
    return sum("`@patchwright help`: show this help." in one for one in told)


def _ended(stage: Stage) -> list[str]:
    """Return the messages whose run has ended, each once for each run."""
    default = f"sqlite:///{stage.folder}/state/patchwright.db"
    url = stage.environment.get("PATCHWRIGHT_DATABASE__URL", default)
    query = select(jobs.c.trigger).where(jobs.c.ended_at.is_not(None))
    with closing(Database(url)) as database, database.reading() as connection:
        found = map(Trigger.model_validate_json, connection.scalars(query))
        return [str(one.thread).rpartition("#")[2] for one in found]


def _count_answers(jira: FakeJira, key: str) -> int:
    return sum(one.author == jira.bot for one in jira.comments(key))


def _broker(port: int) -> dict[str, str]:
    return {"PATCHWRIGHT_QUEUE__BROKER_URL": f"redis://127.0.0.1:{port}/0"}
