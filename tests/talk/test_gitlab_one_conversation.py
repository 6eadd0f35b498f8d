"""One conversation over Linear, Slack and a merge request: one run, one log."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from patchwright.core.webhook import WEBHOOK_ROUTE
from patchwright.resolver.job import JobState
from tests.fakes.gitlab import MERGE_REQUEST, Visibility
from tests.fakes.linear.fake import FakeLinear
from tests.fakes.linear.webhooks import deliver
from tests.fakes.llm.turns import Script, TurnLike, call
from tests.fakes.slack.fake import FakeSlack
from tests.flow.gitlab_story import SHOP, GitLabStory, telling_gitlab
from tests.flow.linear import SECRET, TEAM, linear_connection, linear_token
from tests.flow.office import Workspace, make_workspace, slack_settings
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import fix_turns
from tests.provision.servers import free_port

QUESTION = "Should `total` count in cents, or in euros?"
ANSWER = call("finish", summary="Nothing to do.", answer="The empty cart is covered.")


@dataclass
class House:
    """A workspace of Linear and one of Slack; ann, jo and alice are one person."""

    story: GitLabStory
    slack: Workspace
    linear: FakeLinear
    ann: str
    carried: int = 0

    def work(self) -> None:
        """Carry the webhooks of Linear to the service, and let it work."""
        address = self.story.url + WEBHOOK_ROUTE.format(service="linear")
        sent = self.linear.deliveries[self.carried :]
        self.carried += len(sent)
        assert {deliver(one, address).status for one in sent} <= {200, 202}
        self.story.work()

    def said_in_linear(self, key: str) -> str:
        """Return all that our app says in an issue now."""
        comments = [one.body for one in self.linear.comments(key)]
        told = [
            one.content.get("body", "")
            for session in self.linear.sessions(key)
            for one in self.linear.world.activities(session)
        ]
        return "\n\n".join([*comments, *told])


@contextmanager
def in_house(folder: Path, turns: Script) -> Iterator[House]:
    with ExitStack() as stack:
        slack = make_workspace(stack.enter_context(FakeSlack()))
        linear = stack.enter_context(FakeLinear())
        ann = linear.add_user("ann", "Ann Lee")
        linear.add_team(TEAM)
        linear.add_webhook(SECRET)
        alice = {"slack": slack.jo, "linear": ann, "gitlab": "alice"}
        settings = {
            **slack_settings(slack),
            **linear_connection(linear, {TEAM: SHOP}),
            **linear_token(linear),
            "PATCHWRIGHT_ACCOUNTS__MAP": json.dumps([alice]),
        }
        port = free_port()
        settings["PATCHWRIGHT_SERVER__PUBLIC_URL"] = f"http://127.0.0.1:{port}"
        story = stack.enter_context(
            telling_gitlab(
                folder,
                turns,
                settings=settings,
                port=port,
                visibility=Visibility.PRIVATE,
            )
        )
        slack.fake.send_to(story.url + WEBHOOK_ROUTE.format(service="slack"))
        yield House(story, slack, linear, ann)


def test_t10_asked_in_slack_answered_in_linear_reviewed_on_gitlab(
    tmp_path: Path,
) -> None:
    def read(request: Request) -> TurnLike:
        assert "The total ignores the pieces." in asked(request)
        return QUESTION

    def go_on(request: Request) -> TurnLike:
        assert "In cents, always." in asked(request)
        return first

    first, *rest = fix_turns()
    turns = in_turn(read, QUESTION, QUESTION, go_on, *rest, ANSWER)
    with in_house(tmp_path, turns) as house:
        story, slack = house.story, house.slack
        key = house.linear.create(
            TEAM, house.ann, "Wrong sum", "The total ignores the pieces."
        )
        thread = slack.ask(f"please fix the total, see {key}")
        house.work()
        assert QUESTION in slack.runs(thread)[0].shown
        assert QUESTION in house.said_in_linear(key)
        assert story.jobs()[0].state is JobState.WAITING_USER
        house.linear.comment(key, house.ann, "In cents, always.")
        house.work()
        pull = story.merge_request()
        assert pull.title == f"{key}: Count every piece"
        assert "merge request !1" in slack.runs(thread)[0].shown
        assert "merge request !1" in house.said_in_linear(key)
        assert f"[{key}]({house.linear.page(key)})" in pull.body
        assert "[a thread in Slack](https://acme.slack.com/archives/" in pull.body
        story.say(
            pull.number, "@patchwright is the empty cart covered?", kind=MERGE_REQUEST
        )
        house.work()
        assert "The empty cart is covered." in story.reply(pull.number, MERGE_REQUEST)
        first_run, second_run = story.worked()
        assert first_run.conversation_id == second_run.conversation_id
        assert not any("empty cart" in one.shown for one in slack.answers(thread))


def by_mention(house: House, key: str) -> None:
    calling = house.linear.mention(house.linear.bot)
    house.linear.comment(key, house.ann, f"{calling} please fix the sum")


def by_label(house: House, key: str) -> None:
    house.linear.label(key, house.ann, "patchwright")


def by_delegation(house: House, key: str) -> None:
    house.linear.delegate(key, house.ann, house.linear.bot)


@pytest.mark.parametrize("ask", [by_mention, by_label, by_delegation])
def test_t9_each_way_to_ask_in_linear_ends_in_a_merge_request(
    tmp_path: Path, ask: Callable[[House, str], None]
) -> None:
    with in_house(tmp_path, in_turn(*fix_turns())) as house:
        key = house.linear.create(
            TEAM, house.ann, "Wrong sum", "The total ignores the pieces."
        )
        ask(house, key)
        house.work()
        pull = house.story.merge_request()
        assert pull.title == f"{key}: Count every piece"
        assert f"For [{key}]({house.linear.page(key)})" in pull.body
        url = f"{house.story.gitlab.base_url}/{SHOP}/-/merge_requests/1"
        told = f"**Done, proven** · [merge request !1]({url})"
        assert house.said_in_linear(key).count(told) >= 1
        [link] = house.linear.attachments(key)
        assert (link.url, link.source_type) == (url, "gitlab")
        assert house.linear.been_in(key) == ["In Progress", "In Review"]
        house.work()
        assert len(house.story.jobs()) == 1
