"""A repository's `.patchwright.toml` says how the work is done and handed over."""

from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, in_turn, results
from tests.flow.story import REPO, fix_turns, telling

WISH = "@patchwright please fix the sum"


def wishing(text: str) -> dict[str, str | bytes]:
    return {".patchwright.toml": text}


def test_a_repository_is_set_up_before_the_agent_and_before_each_proof(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        seen.append(results(request)[-1])
        return end

    seen: list[str] = []
    *work, end = fix_turns()
    rules = (
        'setup = "echo set up > /tmp/ready"\n'
        'test = ["cat /tmp/ready", "python3 -m unittest test_cart"]\n'
    )
    turns = in_turn(*work, call("shell", command="cat /tmp/ready"), look)
    with telling(tmp_path, turns, files=wishing(rules)) as story:
        issue = story.ask(WISH)
        story.work()
        assert seen[0].startswith("set up")
        [pull] = story.github.pull_requests(REPO)
        for command in ("cat /tmp/ready", "python3 -m unittest test_cart"):
            assert f"| `{command}` |" in pull.body
        # The new test by its name, and the command that ran it.
        assert pull.body.count("🔴") == 2
        own = ("own tests, without it", "own tests, with it")
        assert all(f"| {side} | `cat /tmp/ready` |" in pull.body for side in own)
        assert "**Proven**" in pull.body
        assert "**Done, proven** · #2" in story.reply(issue)


def test_base_branch_and_title_are_as_a_repository_wants_them(tmp_path: Path) -> None:
    rules = (
        'base = "develop"\nbranch = "bot/{{number}}-{{slug}}"\n'
        'title = "fix: {{title}}"\nassign_requester = false\n'
    )
    with telling(tmp_path, fix_turns(), files=wishing(rules)) as story:
        start = story.github.commit_files(REPO, "develop", {"new.py": "n = 1\n"})
        issue = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert (pull.base_branch, pull.base_sha) == ("develop", start)
        assert pull.head_branch == "bot/1-wrong-sum"
        assert pull.title == "fix: Count every piece"
        assert story.github.issue(REPO, pull.number).assignees == ()
        assert "**Done, proven** · #2" in story.reply(issue)


@pytest.mark.parametrize(
    ("wish", "branches", "told"),
    [
        ("branch", ["patchwright/1-wrong-sum"], "tree/patchwright/1-wrong-sum"),
        ("patch", [], "+++ b/cart.py"),
    ],
)
def test_a_change_is_handed_over_as_a_repository_wants_it(
    tmp_path: Path, wish: str, branches: list[str], told: str
) -> None:
    with telling(tmp_path, fix_turns(), files=wishing(f'deliver = "{wish}"')) as story:
        issue = story.ask(WISH)
        story.work()
        assert story.branches() == branches
        assert story.github.pull_requests(REPO) == []
        assert "**Done, proven**" in story.reply(issue)
        assert told in story.reply(issue)


def test_a_proven_change_is_a_draft_where_a_repository_wants_that(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns(), files=wishing('deliver = "draft"')) as story:
        issue = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert pull.draft
        assert "**Proven**" in pull.body
        assert "**Done, proven** · #2 (draft)" in story.reply(issue)


def test_a_repository_may_allow_fewer_steps(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns(), files=wishing("max_iterations = 2")) as story:
        issue = story.ask(WISH)
        story.work()
        assert len(story.provider.requests) == 2
        assert story.outcome().kind is OutcomeKind.OVER_LIMIT
        assert "The limit of 2 steps was reached." in story.reply(issue)
