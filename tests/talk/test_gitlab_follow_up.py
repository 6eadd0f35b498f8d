"""A merge request of ours on GitLab is looked after: reviews, pipelines, conflicts."""

from pathlib import Path

from patchwright.core.types.triggers import TriggerKind
from tests.fakes.github.comparison import commit_of
from tests.fakes.gitlab import MERGE_REQUEST, Level, Remark, Report, Spot
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.gitlab_story import BRANCH, SHOP, GitLabStory, telling_gitlab
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import CART, fix_turns

WISH = "@patchwright fix the sum"
NOTE = call("write", path="note.txt", content="Done.\n")
DONE = call("finish", title="Mend it", summary="Mended it.")
THEIRS = CART.replace("sum(prices)", "round(sum(prices), 2)")
BOTH = CART.replace("sum(prices)", "round(sum(p * n for p, n in zip(prices, pieces)))")


def _fail_pipeline(story: GitLabStory, trace: str) -> None:
    report = Report(name="lint", trace=trace)
    story.gitlab.run_pipeline(SHOP, BRANCH, [report], "alice")
    story.work()


def test_a_failed_pipeline_of_ours_is_mended_until_it_fails_alike(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        assert "E501 Line too long" in asked(request)
        return NOTE

    with telling_gitlab(tmp_path, in_turn(*fix_turns(), look, DONE)) as story:
        issue = story.ask(WISH)
        first = story.merge_request()
        _fail_pipeline(story, "E501 Line too long\n")
        second = story.merge_request()
        assert second.head_sha != first.head_sha
        assert "**Done, proven**" in story.replies(second.number, MERGE_REQUEST)[0]
        for _ in range(2):
            _fail_pipeline(story, "E501 Line too long\n")
            assert story.merge_request().head_sha == second.head_sha
        _, told = story.replies(second.number, MERGE_REQUEST)
        assert "fail again in the same way (`lint`)" in told
        assert story.notes(issue)


def test_a_pipeline_of_somebody_elses_branch_is_not_ours(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, []) as story:
        story.propose()
        story.work()
        report = Report(name="lint", trace="E501\n")
        story.gitlab.run_pipeline(SHOP, "work", [report], "alice")
        story.work()
        assert story.jobs() == []


def test_a_push_that_conflicts_with_our_merge_request_is_merged_once(
    tmp_path: Path,
) -> None:
    settle = [call("write", path="cart.py", content=BOTH), DONE]
    with telling_gitlab(tmp_path, in_turn(*fix_turns(), *settle)) as story:
        issue = story.ask(WISH)
        before = story.merge_request()
        story.gitlab.commit_files(SHOP, "main", {"cart.py": THEIRS}, author="alice")
        push = story.gitlab.delivery("Push Hook")
        story.work()
        story.deliver(push)
        story.work()
        after = story.merge_request()
        first, second = commit_of(story.gitlab.git_folder(SHOP), after.head_sha).parents
        assert (first, second) == (before.head_sha, after.base_sha)
        merging = [
            job for job in story.jobs() if job.trigger.kind is TriggerKind.CONFLICT
        ]
        assert len(merging) == 1
        assert "**Done, proven**" in story.reply(after.number, MERGE_REQUEST)
        assert story.notes(issue)


def test_a_review_of_ours_is_answered_at_its_lines(tmp_path: Path) -> None:
    def read(request: Request) -> TurnLike:
        assert "Name the price in full." in asked(request)
        return call(
            "edit",
            path="cart.py",
            edits=[{"old": "p * n for p, n", "new": "price * n for price, n"}],
        )

    finish = call(
        "finish",
        title="Name the price",
        summary="Gave a name its full length.",
        reviews=[{"thread": 1, "verdict": "addressed", "text": "Named it `price`."}],
    )
    asks = {".patchwright.toml": 'triggers = ["mention", "review"]'}
    turns = in_turn(*fix_turns(), read, finish)
    with telling_gitlab(tmp_path, turns, files=asks) as story:
        issue = story.ask(WISH)
        number = story.merge_request().number
        spot = Spot(path="cart.py", line=5)
        story.gitlab.review(
            SHOP,
            number,
            "alice",
            remarks=[Remark(spot=spot, body="Name the price in full.")],
            state="requested_changes",
        )
        story.work()
        assert "price * n" in story.file(BRANCH, "cart.py")
        [answer] = story.at_lines(number)
        assert "Named it `price`." in answer
        assert "**Done, proven**" in story.reply(number, MERGE_REQUEST)
        assert story.worked()[-1].trigger.kind is TriggerKind.REVIEW
        assert len(story.worked()) == len(["request", "review"])
        assert story.notes(issue)


def test_a_merged_request_is_over(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, in_turn(*fix_turns())) as story:
        issue = story.ask(WISH)
        number = story.merge_request().number
        story.gitlab.approve(SHOP, number, "alice")
        story.gitlab.grant(SHOP, "alice", Level.MAINTAINER)
        story.gitlab.merge(SHOP, number, "alice")
        story.work()
        assert "p * n" in story.file("main", "cart.py")
        _fail_pipeline(story, "E501 Line too long\n")
        assert len(story.worked()) == 1
        assert story.replies(number, MERGE_REQUEST) == []
        assert story.notes(issue)


def test_a_follow_up_in_the_merge_request_changes_its_branch(tmp_path: Path) -> None:
    def see(request: Request) -> TurnLike:
        assert "please add a note" in asked(request)
        return NOTE

    with telling_gitlab(tmp_path, in_turn(*fix_turns(), see, DONE)) as story:
        issue = story.ask(WISH)
        number = story.merge_request().number
        story.say(number, "@patchwright please add a note", kind=MERGE_REQUEST)
        assert story.file(BRANCH, "note.txt") == "Done.\n"
        first, second = story.worked()
        assert first.conversation_id == second.conversation_id
        assert "**Done, proven**" in story.reply(number, MERGE_REQUEST)
        assert story.notes(issue)
