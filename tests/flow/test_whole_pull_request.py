"""A pull request of ours says the truth about its head, whoever has moved that."""

import re
from pathlib import Path

from patchwright.core.types.evidence import Proof
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.body_parts import find_state
from tests.fakes.github import bare
from tests.fakes.github.state import Issue
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import in_turn
from tests.flow.story import NEW_TEST, REPO, Story, fix_turns, telling

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


def _pull(story: Story) -> Issue:
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
    # No other commit is named as the one that was run with the change.
    named = set(re.findall(r"`([0-9a-f]{10,40})`", _evidence(pull.body)))
    assert head[:10] in named
    return pull.body


def _evidence(body: str) -> str:
    found = re.search(
        r"<!-- patchwright:part=evidence -->(.*?)<!-- patchwright:end=evidence -->",
        body,
        re.DOTALL,
    )
    assert found is not None
    return found[1]


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
        assert not _pull(story).draft

        story.say(number, "@patchwright please name the price in full")
        story.work()
        body = _says_the_truth(story, _outcome(story))
        report = _outcome(story).proof_report
        assert report is not None
        assert report.is_rerun
        assert "The total ignored the pieces." in body
        assert "Gave a name its full length." in body
        assert not _pull(story).draft

        story.say(number, "@patchwright please add another test")
        story.work()
        _says_the_truth(story, _outcome(story))
        report = _outcome(story).proof_report
        assert report is not None
        assert not report.is_rerun
        assert not _pull(story).draft
        assert len(story.replies(issue)) == 1
        assert len(story.replies(number)) == 2
