"""A pull request from a fork gets the change itself, where its owner lets us."""

from pathlib import Path

from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.bare import find_commit
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, in_turn
from tests.flow.story import REPO, Story, telling
from tests.flow.text import steady

WISH = "@patchwright please finish this"
WRITE = call("write", path="note.txt", content="Done.\n")
FINISH = call("finish", title="Add a note", summary="Added a note.")
FORK = "eve/shop"


def _open_pull(story: Story, branch: str = "patch") -> int:
    story.github.fork(REPO, "eve")
    story.github.commit_files(FORK, branch, {"x.py": "x = 1\n"})
    proposal = Proposal(title="Try x", head=f"eve:{branch}", base="main")
    return story.github.open_pull_request(REPO, "eve", proposal)


def _tip(story: Story, repo: str, branch: str) -> str | None:
    return find_commit(story.github.git_folder(repo), f"refs/heads/{branch}")


def test_s21_the_change_goes_to_the_forks_own_branch(tmp_path: Path) -> None:
    with telling(tmp_path, [WRITE, FINISH], as_app=False) as story:
        number = _open_pull(story)
        story.say(number, WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert story.branches() == []
        assert pull.head_sha == _tip(story, FORK, "patch") == story.outcome().head_sha
        assert ("The change is on [`patch`](GITHUB/eve/shop/tree/patch).") in steady(
            story.reply(number)
        )


def test_s21_a_fork_that_refuses_gets_a_branch_to_pull_from(tmp_path: Path) -> None:
    with telling(tmp_path, [WRITE, FINISH]) as story:
        number = _open_pull(story)
        before = _tip(story, FORK, "patch")
        story.say(number, WISH)
        story.work()
        run = story.jobs()[0].id[:8]
        assert _tip(story, FORK, "patch") == before
        assert story.branches() == [f"patchwright/1-{run}"]
        assert (
            "`patch` of `eve/shop` was not changed: the service does not let us "
            "write there. Its owner can pull the change: `git pull "
            f"GITHUB/acme/shop.git patchwright/1-{run}`."
        ) in steady(story.reply(number))


def test_s21_a_push_of_the_forks_owner_during_the_run_is_not_overwritten(
    tmp_path: Path,
) -> None:
    def push_meanwhile(_request: Request) -> TurnLike:
        newer.append(story.github.commit_files(FORK, "patch", {"x.py": "x = 2\n"}))
        return FINISH

    newer: list[str] = []
    script = in_turn(WRITE, push_meanwhile)
    with telling(tmp_path, script, as_app=False) as story:
        number = _open_pull(story)
        story.say(number, WISH)
        story.work()
        run = story.jobs()[0].id[:8]
        assert _tip(story, FORK, "patch") == newer[0]
        assert story.branches() == [f"patchwright/1-{run}"]
        assert (
            "`patch` of `eve/shop` was not changed: the branch patch has changed"
        ) in story.reply(number)


def test_s21_a_pull_request_from_a_forks_main_leaves_ours_untouched(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, [WRITE, FINISH], as_app=False) as story:
        number = _open_pull(story, branch="main")
        before = _tip(story, REPO, "main")
        story.say(number, WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert _tip(story, REPO, "main") == before
        assert pull.head_sha == _tip(story, FORK, "main") == story.outcome().head_sha
        assert "The change is on [`main`]" in story.reply(number)
