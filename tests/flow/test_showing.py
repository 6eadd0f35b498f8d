"""What people see around a run: labels, the check, one call, and the run's page."""

import re
from pathlib import Path

import httpx

from tests.fakes.github.acts.checks import checks_on
from tests.fakes.github.acts.pulls import Proposal
from tests.flow.story import REPO, Story, fix_turns, telling

SITE = {"PATCHWRIGHT_SERVER__PUBLIC_URL": "https://bot.test/under"}


def _label(story: Story) -> int:
    issue = story.github.open_issue(REPO, "eve", "Wrong sum", "3 pieces cost 450.")
    story.github.label(REPO, issue, "patchwright", "alice")
    story.tell()
    return issue


def test_a_label_gives_way_to_one_that_says_how_it_went(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = _label(story)
        story.work()
        assert story.github.issue(REPO, issue).labels == ("patchwright:done",)
        assert story.reply(issue)
        assert story.pings(issue)


def test_a_mention_leaves_the_labels_alone(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        assert story.github.issue(REPO, issue).labels == ()
        assert story.reply(issue)
        assert story.pings(issue)


def test_p2_the_requester_is_called_once_when_it_is_done(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        assert "patchwright:state=resolved" in story.reply(issue)
        [call] = story.pings(issue)
        assert call.startswith("@alice **Done, proven** · #2")


def test_the_check_of_a_pull_request_follows_the_run(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        story.github.commit_files(REPO, "work", {"a.txt": "1\n"}, author="alice")
        proposal = Proposal(title="Sum", head="work", base="main", body="")
        number = story.github.open_pull_request(REPO, "alice", proposal)
        story.say(number, "@patchwright fix the sum")
        story.work()
        assert story.reply(number)
        assert story.pings(number)
        [pull] = story.github.pull_requests(REPO)
        [check] = checks_on(story.github.world, REPO, pull.head_sha)
        assert (check.conclusion, check.name) == ("success", "Patchwright")
        assert {one.conclusion for one in story.github.world.check_runs.values()} == {
            "success"
        }


def test_the_link_in_the_comment_opens_the_page_of_the_run(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns(), settings=SITE) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        status = story.reply(issue)
        assert story.pings(issue)
        _, _, rest = status.partition("[run](https://bot.test/under")
        link, _, _ = rest.partition(")")
        path, _, query = link.partition("?")
        arrival = httpx.get(f"{story.url}{path}?{query}")
        assert arrival.status_code == 303
        key = query.removeprefix("key=")
        assert f"Path=/under{path}" in arrival.headers["set-cookie"]
        cookie = {"Cookie": f"patchwright_run={key}"}
        page = httpx.get(f"{story.url}{path}", headers=cookie).text
        head = story.github.pull_requests(REPO)[0].head_sha[:10]
        for shown in (
            "Wrong sum",
            "<strong>Done, proven</strong>",
            "Pull request #2",
            head,
        ):
            assert shown in page
        # Its words have colors, each a tag.
        assert "zip(prices, pieces)" in re.sub(r"<[^>]*>", "", page)
        assert httpx.get(f"{story.url}{path}").status_code == 404
