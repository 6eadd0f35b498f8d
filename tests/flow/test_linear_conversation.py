"""One conversation over Linear, Slack and GitHub has one pull request."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from patchwright.core.webhook import WEBHOOK_ROUTE
from tests.fakes.llm.turns import Script, TurnLike, call
from tests.fakes.slack.fake import FakeSlack
from tests.flow.linear import LinearOffice, in_linear
from tests.flow.office import Workspace
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, fix_turns

QUESTION = "Should `total` count in cents, or in euros?"
ANSWER = call("finish", summary="Nothing to do.", answer="The empty cart is covered.")


@dataclass
class Talk:
    linear: LinearOffice
    slack: Workspace


@contextmanager
def talking(folder: Path, turns: Script) -> Iterator[Talk]:
    with ExitStack() as stack:
        fake = stack.enter_context(FakeSlack())
        team = fake.scene.add_workspace()
        token = fake.scene.install(team)
        jo = fake.scene.add_user(team, "jo", "Jo Doe")
        friend = fake.scene.add_user(team, "max", "Max")
        channel = fake.scene.add_channel(team, "shop-dev", (jo, friend))
        slack = Workspace(fake, token, team, jo, friend, channel)
        settings = {
            "PATCHWRIGHT_SLACK__API_URL": fake.api_url,
            "PATCHWRIGHT_SLACK__BOT_TOKEN": token,
            "PATCHWRIGHT_SLACK__SIGNING_SECRET": fake.app.signing_secret,
        }
        office = stack.enter_context(
            in_linear(
                folder, turns, settings=settings, also={"slack": jo, "github": "alice"}
            )
        )
        fake.send_to(office.story.url + WEBHOOK_ROUTE.format(service="slack"))
        yield Talk(office, slack)
        slack.nothing_unread()


def test_asked_in_slack_answered_in_linear_reviewed_on_github(tmp_path: Path) -> None:
    def read(request: Request) -> TurnLike:
        assert "The total ignores the pieces." in asked(request)
        return QUESTION

    def go_on(request: Request) -> TurnLike:
        assert "In cents, always." in asked(request)
        return first

    first, *rest = fix_turns()
    turns = in_turn(read, QUESTION, QUESTION, go_on, *rest, ANSWER)
    with talking(tmp_path, turns) as talk:
        linear, slack, story = talk.linear, talk.slack, talk.linear.story
        key = linear.open()
        linear.tell()
        page = linear.fake.page(key)
        thread = slack.ask(f"please fix the total, see {page}")
        story.work()
        assert QUESTION in slack.runs(thread)[0].shown
        [waits] = linear.comments(key)
        assert waits.body.startswith("**Needs you**")
        assert QUESTION in waits.body
        linear.fake.comment(key, linear.ann, "In cents, always.")
        linear.work()
        assert "pull request #1" in slack.runs(thread)[0].shown
        [done] = linear.comments(key)
        assert done.body.startswith("**Done, proven**")
        [pull] = story.github.pull_requests(REPO)
        assert pull.title == f"{key}: Count every piece"
        assert f"[{key}]({page.rpartition('/')[0]}" in pull.body
        assert linear.fake.been_in(key) == ["In Progress", "In Review"]
        story.say(pull.number, "@patchwright is the empty cart covered?")
        story.work()
        assert "The empty cart is covered." in story.reply(pull.number)
        asked_first, reviewed = story.jobs()
        assert asked_first.conversation_id == reviewed.conversation_id
        assert len(linear.comments(key)) == len(slack.runs(thread)) == 2
        assert len(slack.calls(thread)) == 2


def test_an_issue_on_github_that_names_one_of_linears_tells_it(tmp_path: Path) -> None:
    with talking(tmp_path, in_turn(*fix_turns())) as talk:
        linear, story = talk.linear, talk.linear.story
        key = linear.open()
        linear.tell()
        issue = story.ask(f"@patchwright please fix the sum, it is {key}")
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)
        assert len(story.pings(issue)) == 1
        [told] = linear.comments(key)
        assert told.body.startswith("**Done, proven** · [pull request #2](")
        [link] = linear.fake.attachments(key)
        assert link.url == f"{story.github.web_url}/{REPO}/pull/2"
