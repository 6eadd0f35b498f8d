"""A mention in a pull request moves it; a second one on an issue goes on with ours."""

from pathlib import Path

from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.faults import When
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, in_turn, results
from tests.flow.story import REPO, Story, fix_turns, telling
from tests.flow.text import steady

WISH = "@patchwright please finish this"
FINISH = call("finish", title="Add a note", summary="Added a note.")


def _note(text: str = "Done.\n") -> list[TurnLike]:
    return [call("write", path="note.txt", content=text), FINISH]


def _open_pull(story: Story, head: str = "feature/x", author: str = "alice") -> int:
    proposal = Proposal(
        title="Try x",
        head=head,
        base="main",
        body="My own words.",
        maintainer_can_modify=False,
    )
    return story.github.open_pull_request(REPO, author, proposal)


def test_s32_a_mention_in_a_pull_request_moves_its_branch(tmp_path: Path) -> None:
    with telling(tmp_path, _note()) as story:
        start = story.github.commit_files(REPO, "feature/x", {"x.py": "x = 1\n"})
        number = _open_pull(story)
        story.say(number, WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert story.branches() == ["feature/x"]
        assert pull.head_sha != start
        assert (pull.title, pull.body) == ("Try x", "My own words.")
        assert "**Change made, not proven**" in story.reply(number)
        assert "The change is on [`feature/x`]" in story.reply(number)


def test_s21_a_mention_in_a_forks_pull_request_gets_a_branch_here(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        assert "x = 1" in results(request)[-1]
        return _note()[0]

    with telling(tmp_path, in_turn(call("read", path="x.py"), look, FINISH)) as story:
        fork = story.github.fork(REPO, "eve")
        story.github.commit_files(fork, "patch", {"x.py": "x = 1\n"})
        number = _open_pull(story, head="eve:patch", author="eve")
        story.say(number, WISH)
        story.work()
        assert story.branches() == ["patchwright/1-try-x"]
        assert (
            "- The pull request comes from a fork that we do not write to, so the "
            "change is on a branch of this repository.\n\n"
            "The change is on [`patchwright/1-try-x`]"
            "(GITHUB/acme/shop/tree/patchwright/1-try-x).\n\n"
        ) in steady(story.reply(number))


def test_s35_a_second_mention_goes_on_with_the_pull_request_of_the_first(
    tmp_path: Path,
) -> None:
    def see_the_first(request: Request) -> TurnLike:
        assert "zip(prices, pieces)" in results(request)[-1]
        return _note()[0]

    script = in_turn(*fix_turns(), call("read", path="cart.py"), see_the_first, FINISH)
    with telling(tmp_path, script) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        story.github.edit_issue(REPO, issue, "alice", title="Another title by now")
        story.say(issue, "Thanks! @patchwright please add a note")
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert pull.title == "Count every piece"
        assert "Closes #1" in pull.body
        words = pull.body.index("The total ignored the pieces.")
        assert words < pull.body.index("**Since then**") < pull.body.index("Added a")
        assert not pull.draft
        first, second = story.replies(issue)
        assert "**Done, proven** · #2 ·" in first
        assert "**Done, proven** · #2 ·" in second


def test_s37_if_it_may_not_open_a_pull_request_it_gives_a_link(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        story.github.fail_next(
            "POST", r"/pulls$", 403, body={"message": "Not permitted to create them."}
        )
        issue = story.ask("@patchwright fix the sum")
        story.work()
        assert story.github.pull_requests(REPO) == []
        assert story.branches() == ["patchwright/1-wrong-sum"]
        assert (
            "The result could not be delivered: GitHub answered 403: Not permitted to "
            "create them.\n\n"
            "The change is on [`patchwright/1-wrong-sum`]"
            "(GITHUB/acme/shop/tree/patchwright/1-wrong-sum).\n\n"
            "[Open the pull request]"
            "(GITHUB/acme/shop/compare/main...patchwright/1-wrong-sum) yourself, in "
            "one click.\n\n"
        ) in steady(story.reply(issue))


def test_a_pull_request_that_github_fails_to_open_again_and_again_is_told(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        story.github.fail_next("POST", r"/pulls$", 502, times=99)
        issue = story.ask("@patchwright fix the sum")
        story.work()
        # People wait for the message, and need not wait for ten minutes.
        for wait_s in (5, 10, 20):
            assert "state=running" in story.reply(issue)
            story.work_later(wait_s)
        assert "The result could not be delivered: GitHub answered 502" in (
            story.reply(issue)
        )
        assert "compare/main...patchwright/1-wrong-sum" in story.reply(issue)


def test_s40_a_status_that_could_not_be_shown_is_shown_later_and_once(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask("@patchwright fix the sum")
        story.github.fail_next("PATCH", r"/issues/comments/", 502, times=99)
        story.work()
        assert "state=running" in story.reply(issue)
        story.github._site.faults.pending.clear()
        story.work_later(10)
        assert "**Done, proven** · #2 ·" in story.reply(issue)
        assert "state=resolved" in story.reply(issue)


def test_s40_a_comment_whose_answer_got_lost_is_not_posted_twice(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        story.github.fail_next("POST", r"/comments$", 502, when=When.AFTER)
        issue = story.ask("@patchwright fix the sum")
        story.work()
        assert "**Done, proven** · #2 ·" in story.reply(issue)
