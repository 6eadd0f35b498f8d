"""A merge request for an issue of GitLab: how it reads, and how it goes on."""

from pathlib import Path

from tests.flow.gitlab_story import BRANCH, MERGE_REQUEST, SHOP, telling_gitlab
from tests.flow.story import fix_turns
from tests.flow.text import steady


def test_a_mention_becomes_a_proven_merge_request(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, fix_turns()) as story:
        issue = story.ask("@patchwright fix the sum")
        pull = story.merge_request()
        print(steady(pull.body))
        print(pull.title)
        print(pull.draft)
        print("-----")
        print(steady(story.reply(issue)))
        print(story.pings(issue), story.awards(issue), story.branches())
        print([(j.trigger.kind, j.outcome and j.outcome.reason) for j in story.jobs()])
        assert 0
