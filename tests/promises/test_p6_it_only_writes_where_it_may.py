"""It writes its own branch or the one it was asked to, and over no newer push."""

from pathlib import Path

from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.bare import find_commit
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, in_turn
from tests.flow.story import REPO, Story, fix_turns, telling

WRITE = call("write", path="note.txt", content="Done.\n")
FINISH = call("finish", title="Add a note", summary="Added a note.")
WISH = "@patchwright please finish this"


def _open_pull(story: Story, head: str, base: str = "main") -> int:
    proposal = Proposal(title="Try x", head=head, base=base)
    return story.github.open_pull_request(REPO, "alice", proposal)


def _tip(story: Story, branch: str) -> str | None:
    return find_commit(story.github.git_folder(REPO), f"refs/heads/{branch}")


def test_what_somebody_pushed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    def push_meanwhile(_request: Request) -> TurnLike:
        newer.append(
            story.github.commit_files(REPO, "feature/x", {"note.txt": "Mine.\n"})
        )
        return FINISH

    newer: list[str] = []
    with telling(tmp_path, in_turn(WRITE, push_meanwhile)) as story:
        story.github.commit_files(REPO, "feature/x", {"x.py": "x = 1\n"})
        number = _open_pull(story, "feature/x")
        story.say(number, WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        run = story.jobs()[0].id[:8]
        assert pull.head_sha == newer[0]
        assert story.branches() == ["feature/x", f"patchwright/1-{run}"]
        assert (
            "`feature/x` was not changed: the branch feature/x has changed"
        ) in story.reply(number)
        assert f"The change is on [`patchwright/1-{run}`]" in story.reply(number)


def test_nothing_is_written_for_somebody_who_may_not_ask_any_more(
    tmp_path: Path,
) -> None:
    def lose_permission(_request: Request) -> TurnLike:
        story.github.grant(REPO, "alice", "read")
        return FINISH

    with telling(tmp_path, in_turn(WRITE, lose_permission)) as story:
        issue = story.ask(WISH)
        story.work()
        assert story.branches() == []
        assert story.github.pull_requests(REPO) == []
        assert (
            "The result could not be delivered: alice has read access here; write "
            "access is needed."
        ) in story.reply(issue)


def test_what_may_be_written_is_asked_again_until_github_says(tmp_path: Path) -> None:
    def lose_the_answer(_request: Request) -> TurnLike:
        story.github.fail_next("GET", "/collaborators/", 503, times=4)
        return FINISH

    with telling(tmp_path, in_turn(WRITE, lose_the_answer)) as story:
        issue = story.ask(WISH)
        story.work()
        assert story.branches() == []
        assert "state=running" in story.reply(issue)
        story.work_later(10)
        assert "**Draft, not proven** · #2" in story.reply(issue)


def test_the_default_branch_is_left_alone_though_a_pull_request_comes_from_it(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, [WRITE, FINISH]) as story:
        story.github.commit_files(REPO, "release", {"x.py": "x = 1\n"})
        before = story.github.commit_files(REPO, "main", {"y.py": "y = 1\n"})
        number = _open_pull(story, head="main", base="release")
        story.say(number, WISH)
        story.work()
        run = story.jobs()[0].id[:8]
        assert _tip(story, "main") == before
        assert f"The change is on [`patchwright/1-{run}`]" in story.reply(number)


def test_a_protected_branch_is_left_alone(tmp_path: Path) -> None:
    with telling(tmp_path, [WRITE, FINISH]) as story:
        before = story.github.commit_files(REPO, "feature/x", {"x.py": "x = 1\n"})
        story.github.protect_branch(REPO, "feature/x")
        number = _open_pull(story, "feature/x")
        story.say(number, WISH)
        story.work()
        run = story.jobs()[0].id[:8]
        assert _tip(story, "feature/x") == before
        assert "`feature/x` was not changed: the remote refuses to update" in (
            story.reply(number)
        )
        assert f"The change is on [`patchwright/1-{run}`]" in story.reply(number)


def test_a_branch_of_that_name_that_is_not_ours_is_not_overwritten(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        taken = story.github.commit_files(
            REPO, "patchwright/1-wrong-sum", {"x.py": "x = 1\n"}
        )
        issue = story.ask("@patchwright fix the sum")
        story.work()
        [pull] = story.github.pull_requests(REPO)
        run = story.jobs()[0].id[:8]
        assert _tip(story, "patchwright/1-wrong-sum") == taken
        assert pull.head_branch == f"patchwright/1-wrong-sum-{run}"
        assert "**Done, proven** · #2" in story.reply(issue)


def test_a_branch_called_like_our_prefix_does_not_keep_the_change_out(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        theirs = story.github.commit_files(REPO, "patchwright", {"x.py": "x = 1\n"})
        issue = story.ask("@patchwright fix the sum")
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert _tip(story, "patchwright") == theirs
        assert pull.head_branch == "patchwright-1-wrong-sum"
        assert "**Done, proven** · #2" in story.reply(issue)


def test_a_branch_below_the_name_of_ours_does_not_keep_the_change_out(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        below = "patchwright/1-wrong-sum/theirs"
        theirs = story.github.commit_files(REPO, below, {"x.py": "x = 1\n"})
        issue = story.ask("@patchwright fix the sum")
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert _tip(story, below) == theirs
        assert pull.head_branch == "patchwright-1-wrong-sum"
        assert "**Done, proven** · #2" in story.reply(issue)


def test_a_branch_called_like_our_prefix_does_not_block_the_way_aside(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, [WRITE, FINISH]) as story:
        story.github.commit_files(REPO, "patchwright", {"y.py": "y = 1\n"})
        before = story.github.commit_files(REPO, "feature/x", {"x.py": "x = 1\n"})
        story.github.protect_branch(REPO, "feature/x")
        number = _open_pull(story, "feature/x")
        story.say(number, WISH)
        story.work()
        run = story.jobs()[0].id[:8]
        assert _tip(story, "feature/x") == before
        assert f"The change is on [`patchwright-1-{run}`]" in story.reply(number)
