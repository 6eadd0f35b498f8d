"""A pull request of ours says the truth about its head, whoever has moved that."""

import json
import re
from pathlib import Path

from patchwright.core.types.evidence import Proof
from patchwright.core.types.triggers import TriggerKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.body_parts import find_state
from tests.fakes.github import bare
from tests.fakes.github.acts.pulls import follow_heads
from tests.fakes.github.seen import PullRequestSeen
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, in_turn
from tests.flow.story import CART, NEW_TEST, REPO, Story, fix_turns, telling

RENAMED = [
    call(
        "edit",
        path="cart.py",
        edits=[
            {
                "old": "sum(p * n for p, n in zip(prices, pieces))",
                "new": "sum(price * n for price, n in zip(prices, pieces))",
            }
        ],
    ),
    call("finish", title="Name the price", summary="Gave a name its full length."),
]
MORE_TESTS = NEW_TEST.replace("[450], [3]), 1350", "[450, 1], [3, 2]), 1352").replace(
    "PiecesTest", "MorePiecesTest"
)
TESTED: list[TurnLike] = [
    call("write", path="test_more.py", content=MORE_TESTS),
    call(
        "finish",
        title="Add a test",
        summary="Added a test of two prices.",
        test_commands=["python3 -m unittest test_more"],
    ),
]


def _git(story: Story, *words: str) -> str:
    return bare.git(story.github.git_folder(REPO), *words).decode().strip()


def _pull(story: Story) -> PullRequestSeen:
    [pull] = story.github.pull_requests(REPO)
    return pull


def _says_the_truth(story: Story, outcome: Outcome, level: Proof = Proof.PROVEN) -> str:
    """Check what the body says of its head, and return the body.

    Both commits are named: where the branch has left the default one, and its head.
    """
    [pull] = story.github.pull_requests(REPO)
    head = _git(story, "rev-parse", pull.head_branch)
    base = _git(story, "merge-base", "main", pull.head_branch)
    assert pull.head_sha == head
    state = find_state(pull.body)
    assert state is not None
    assert (state.head_sha, state.level) == (head, level)
    assert outcome.proof is level
    assert outcome.proof_report is not None
    assert outcome.proof_report.base_sha == base
    assert {base[:10], head[:10]} <= _commits_in(_evidence(pull.body))
    return pull.body


def _commits_in(text: str) -> set[str]:
    return set(re.findall(r"`([0-9a-f]{10})`", text))


def _evidence(body: str) -> str:
    found = re.search(
        r"<!-- patchwright:part=evidence -->(.*?)<!-- patchwright:end=evidence -->",
        body,
        re.DOTALL,
    )
    assert found is not None
    return found[1]


def _is_rerun(story: Story) -> bool:
    report = _outcome(story).proof_report
    assert report is not None
    return report.is_rerun


def _tell_of_push(story: Story) -> None:
    receipt = story.deliver(story.github.delivery("pull_request", "synchronize"))
    assert receipt.status in {200, 202}, receipt


def _rebase(story: Story, folder: Path, branch: str) -> str:
    """Put the branch on top of the default one, as a person would; return its head."""
    theirs, clone = story.github.git_folder(REPO), folder / "clone"
    bare.git(folder, "clone", "--quiet", str(theirs), str(clone))
    bare.git(clone, "checkout", "--quiet", branch)
    who = ("-c", "user.name=Alice", "-c", "user.email=alice@example.com")
    bare.git(clone, *who, "rebase", "--quiet", "origin/main")
    bare.git(clone, "push", "--quiet", "--force", "origin", branch)
    world = story.github.world
    follow_heads(world, world.repo(REPO), "alice")
    return bare.git(clone, "rev-parse", "HEAD").decode().strip()


def _outcome(story: Story) -> Outcome:
    outcome = story.jobs()[-1].outcome
    assert outcome is not None
    return outcome


def test_the_body_says_the_truth_about_its_head_at_each_moment(tmp_path: Path) -> None:
    script = in_turn(*fix_turns(), *RENAMED, *TESTED)
    with telling(tmp_path, script) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        _says_the_truth(story, _outcome(story))
        number = _pull(story).number
        _ask_for_more(story, number)
        asked = len(story.provider.requests)
        _move_by_hand(story, tmp_path)
        # No model has worked for that, and nothing is said besides.
        assert len(story.provider.requests) == asked
        assert len(story.replies(issue)) == 1
        assert len(story.replies(number)) == 2


def _ask_for_more(story: Story, number: int) -> None:
    """Let the pull request be asked for a rename, then for another test."""
    assert not _pull(story).draft
    story.say(number, "@patchwright please name the price in full")
    story.work()
    body = _says_the_truth(story, _outcome(story))
    assert _is_rerun(story)
    assert "The total ignored the pieces." in body
    assert "Gave a name its full length." in body
    assert not _pull(story).draft

    story.say(number, "@patchwright please add another test")
    story.work()
    _says_the_truth(story, _outcome(story))
    assert not _is_rerun(story)
    assert not _pull(story).draft


def _move_by_hand(story: Story, folder: Path) -> None:
    """Let a person push to the pull request, then rebase it."""
    branch = _pull(story).head_branch
    sha = story.github.commit_files(REPO, branch, {"notes.txt": "Mine.\n"})
    _tell_of_push(story)
    story.work()
    body = _says_the_truth(story, _outcome(story))
    assert _pull(story).head_sha == sha
    assert _is_rerun(story)
    assert "The total ignored the pieces." in body
    assert "Somebody else has pushed" not in body

    story.github.commit_files(REPO, "main", {"other.py": "y = 1\n"})
    rebased = _rebase(story, folder, branch)
    _tell_of_push(story)
    story.work()
    _says_the_truth(story, _outcome(story))
    assert _pull(story).head_sha == rebased != sha
    assert not _pull(story).draft


def test_a_push_that_breaks_it_makes_it_a_draft_and_says_so_once(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        number, branch = _pull(story).number, _pull(story).head_branch
        for broken in ("sum(prices)", "0"):
            text = CART.replace("sum(prices)", broken)
            story.github.commit_files(REPO, branch, {"cart.py": text}, author="alice")
            _tell_of_push(story)
            story.work()
            _says_the_truth(story, _outcome(story), Proof.CONTRADICTED)
            assert _pull(story).draft
            assert "does not hold for the new head" in story.reply(number)
            assert "**Proven**" not in _pull(story).body
        good = CART.replace("sum(prices)", "sum(map(int.__mul__, prices, pieces))")
        story.github.commit_files(REPO, branch, {"cart.py": good}, author="alice")
        _tell_of_push(story)
        story.work()
        _says_the_truth(story, _outcome(story))
        # Who has pushed says when it is ready.
        assert _pull(story).draft
        assert story.reply(number)
        assert story.reply(issue)


def test_until_it_was_run_again_the_body_says_what_its_evidence_is_of(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        [pull] = story.github.pull_requests(REPO)
        old, settings = pull.head_sha, {".patchwright.toml": 'evidence = "off"\n'}
        story.github.commit_files(REPO, "main", settings)
        new = story.github.commit_files(
            REPO, pull.head_branch, {"notes.txt": "Mine.\n"}, author="alice"
        )
        _tell_of_push(story)
        story.work()
        body = _pull(story).body
        assert (
            f"The evidence below is of `{old[:10]}`, not of the current head "
            f"`{new[:10]}`; it is not run again: `evidence` is off in "
            "`.patchwright.toml`." in body
        )
        assert "**Proven**" not in body
        assert _outcome(story).reason == "not-run-again"
        assert story.reply(issue)


def test_what_people_have_written_stays_where_it_is(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        [pull] = story.github.pull_requests(REPO)
        mine = pull.body.replace("Closes #1", "Closes #1\n\nMind the cents.")
        story.github.edit_issue(REPO, pull.number, "alice", title="My title", body=mine)
        story.github.commit_files(
            REPO, pull.head_branch, {"notes.txt": "Mine.\n"}, author="alice"
        )
        _tell_of_push(story)
        story.work()
        body = _says_the_truth(story, _outcome(story))
        assert "Closes #1\n\nMind the cents." in body
        assert _pull(story).title == "My title"
        # What was said first: each edit is delivered with the text before it.
        edited = json.loads(story.github.delivery("pull_request", "edited").body)
        before = edited["changes"]["body"]["from"]
        assert "; it is being run again." in before
        assert "**Proven**" not in before
        assert story.reply(issue)


def test_a_push_while_a_run_works_is_proven_after_it(tmp_path: Path) -> None:
    def push(_request: Request) -> TurnLike:
        [pull] = story.github.pull_requests(REPO)
        for text in ("One.\n", "Two.\n"):
            files: dict[str, str | bytes | None] = {"notes.txt": text}
            story.github.commit_files(REPO, pull.head_branch, {**files}, author="alice")
            _tell_of_push(story)
        return call("finish", answer="It is fine as it is.", title="", summary="")

    script = in_turn(*fix_turns(), push)
    with telling(tmp_path, script) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        number = _pull(story).number
        story.say(number, "@patchwright is it fast enough?")
        story.work()
        _says_the_truth(story, _outcome(story))
        # Two pushes are looked at together.
        kinds = [job.trigger.kind for job in story.jobs()]
        assert kinds.count(TriggerKind.PUSHED) == 1
        assert story.reply(number)
        assert story.reply(issue)


def test_our_own_push_and_a_closed_pull_request_are_passed_over(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask("@patchwright fix the sum")
        story.work()
        [pull] = story.github.pull_requests(REPO)
        # As if GitHub had told of the head that the body is about.
        story.github.commit_files(
            REPO, pull.head_branch, {"notes.txt": "Mine.\n"}, author="alice"
        )
        _git(story, "update-ref", f"refs/heads/{pull.head_branch}", pull.head_sha)
        _tell_of_push(story)
        story.work()
        assert _outcome(story).reason == "known-head"
        story.github.commit_files(
            REPO, pull.head_branch, {"notes.txt": "Again.\n"}, author="alice"
        )
        moved = story.github.delivery("pull_request", "synchronize")
        story.github.close_issue(REPO, pull.number, "alice")
        story.deliver(moved)
        story.work()
        assert _outcome(story).reason == "closed"
        assert story.replies(pull.number) == []
        assert story.reply(issue)
