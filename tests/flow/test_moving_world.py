"""The world moves while a run works: its pull request, its branch, the default one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.github import bare
from tests.fakes.github.acts.pulls import Proposal, merge
from tests.fakes.github.acts.repositories import (
    delete_reference,
    rename_default_branch,
)
from tests.fakes.llm.turns import Script, TurnLike, call
from tests.flow.script import Request, in_turn
from tests.flow.story import REPO, Story, fix_turns, telling

WISH = "@patchwright please finish this"
NOTE = call("write", path="note.txt", content="Done.\n")
FINISH = call("finish", title="Add a note", summary="Added a note.")
ASIDE = "patchwright/"


def _while(happens: Callable[[], object]) -> Script:
    """Let something happen after the work was begun and before it is delivered."""

    def last(_request: Request) -> TurnLike:
        happens()
        return FINISH

    return in_turn(NOTE, last)


def _pull(story: Story) -> int:
    story.github.commit_files(REPO, "feature/x", {"x.py": "x = 1\n"})
    proposal = Proposal(
        title="Try x",
        head="feature/x",
        base="main",
        body="My own words.",
        maintainer_can_modify=False,
    )
    return story.github.open_pull_request(REPO, "alice", proposal)


def _git(story: Story, *words: str) -> str:
    return bare.git(story.github.git_folder(REPO), *words).decode().strip()


@pytest.mark.parametrize("merged", [False, True])
def test_a_pull_request_that_is_not_open_any_more_gets_no_push(
    tmp_path: Path, *, merged: bool
) -> None:
    def close() -> None:
        world, [number] = story.github.world, numbers
        if merged:
            merge(world, world.issue(REPO, number), actor="alice")
        else:
            story.github.close_issue(REPO, number, "alice")

    numbers: list[int] = []
    with telling(tmp_path, _while(close)) as story:
        numbers.append(_pull(story))
        [number] = numbers
        start = _git(story, "rev-parse", "feature/x")
        story.say(number, WISH)
        story.work()
        assert _git(story, "rev-parse", "feature/x") == start
        [aside] = [one for one in story.branches() if one != "feature/x"]
        assert aside.startswith(ASIDE)
        reply = story.reply(number)
        what = "merged" if merged else "closed"
        assert f"`feature/x` was not changed: #{number} was {what} while" in reply
        assert f"[`{aside}`]" in reply
        [pull] = story.github.pull_requests(REPO)
        assert not pull.is_open
        story.pings(number)


def test_a_branch_that_was_deleted_does_not_come_back(tmp_path: Path) -> None:
    def delete() -> None:
        world = story.github.world
        delete_reference(world, world.repo(REPO), "refs/heads/feature/x", "alice")

    with telling(tmp_path, _while(delete)) as story:
        number = _pull(story)
        story.say(number, WISH)
        story.work()
        [aside] = story.branches()
        assert aside.startswith(ASIDE)
        assert "`feature/x` was not changed" in story.reply(number)
        assert f"[`{aside}`]" in story.reply(number)
        story.pings(number)


def test_the_default_branch_is_renamed_and_the_change_arrives_all_the_same(
    tmp_path: Path,
) -> None:
    def rename() -> None:
        world = story.github.world
        rename_default_branch(world, world.repo(REPO), "trunk", "alice")

    with telling(tmp_path, _while(rename)) as story:
        number = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert pull.base_branch == "trunk"
        assert f"**Draft, not proven** · #{pull.number}" in story.reply(number)
        story.pings(number)


def test_a_colleagues_push_that_does_not_conflict_stays_below_the_change(
    tmp_path: Path,
) -> None:
    def push() -> None:
        story.github.commit_files(REPO, "feature/x", {"y.py": "y = 2\n"})

    with telling(tmp_path, _while(push)) as story:
        number = _pull(story)
        story.say(number, WISH)
        story.work()
        assert story.branches() == ["feature/x"]
        files = _git(story, "ls-tree", "--name-only", "feature/x").split()
        assert {"x.py", "y.py", "note.txt"} <= set(files)
        reply = story.reply(number)
        assert "Others have pushed to `feature/x` while this run worked" in reply
        assert "Not proven" in reply
        story.pings(number)


def _fix_while(happens: Callable[[], object]) -> Script:
    def last(_request: Request) -> TurnLike:
        happens()
        return finish

    *steps, finish = fix_turns()
    return in_turn(*steps, last)


def test_what_was_proven_is_proven_again_on_top_of_a_colleagues_push(
    tmp_path: Path,
) -> None:
    def push() -> None:
        story.github.commit_files(REPO, "feature/x", {"y.py": "y = 2\n"})

    with telling(tmp_path, _fix_while(push)) as story:
        number = _pull(story)
        story.say(number, WISH)
        story.work()
        reply = story.reply(number)
        assert "🟢 **Proven**" in reply
        assert "its tests were run again there" in reply
        head = _git(story, "rev-parse", "feature/x")
        below = _git(story, "rev-parse", "feature/x^")
        after = [one for one in story.outcome().evidence if one.role == "after"]
        assert [one.commit for one in after] == [head]
        assert _git(story, "show", "--name-only", "--format=", below) == "y.py"
        assert len(story.provider.requests) == len(fix_turns())
        story.pings(number)


def test_what_a_colleagues_push_breaks_is_not_proven_any_more(tmp_path: Path) -> None:
    def push() -> None:
        broken = "raise ValueError\n"
        story.github.commit_files(REPO, "feature/x", {"sitecustomize.py": broken})
        story.github.commit_files(REPO, "feature/x", {"unittest.py": broken})

    with telling(tmp_path, _fix_while(push)) as story:
        number = _pull(story)
        story.say(number, WISH)
        story.work()
        reply = story.reply(number)
        assert reply.startswith("**Contradicted**")
        assert "its tests were run again there" in reply
        assert story.outcome().proof == "contradicted"
        story.pings(number)


def test_without_time_to_prove_it_again_that_is_said(tmp_path: Path) -> None:
    def push() -> None:
        story.github.commit_files(REPO, "feature/x", {"y.py": "y = 2\n"})
        # The whole time of the run has gone by.
        story.clock.advance(1_800)

    with telling(tmp_path, _fix_while(push)) as story:
        number = _pull(story)
        story.say(number, WISH)
        story.work()
        reply = story.reply(number)
        assert "Not proven" in reply
        assert "the run had no time left to run it again" in reply
        story.pings(number)


def test_a_colleagues_push_that_conflicts_is_not_written_over(tmp_path: Path) -> None:
    def push() -> None:
        theirs.append(
            story.github.commit_files(REPO, "feature/x", {"note.txt": "Mine.\n"})
        )

    theirs: list[str] = []
    with telling(tmp_path, _while(push)) as story:
        number = _pull(story)
        story.say(number, WISH)
        story.work()
        assert _git(story, "rev-parse", "feature/x") == theirs[0]
        assert "`feature/x` was not changed" in story.reply(number)
        story.pings(number)
