"""How a change is handed over, and what keeps one from being handed over."""

from pathlib import Path

from tests.fakes.github.acts import adorning
from tests.fakes.github.acts.rules import is_signed, set_rules
from tests.fakes.github.rule_state import Rules
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.story import REPO, Story, fix_turns, telling
from tests.flow.text import without_marks

WISH = "@patchwright fix the sum"
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
CONFIG = """\
title = "fix: {{title}} (#{{number}})"
labels = ["bot"]
reviewers = ["bo", "nobody"]
"""
TEMPLATE = "## Description\nWhat and why?\n\n## Checklist\n- [ ] read\n"


def _with(path: str, content: str) -> list[TurnLike]:
    """Return what a good model does, and one more file."""
    *work, end = fix_turns()
    return [*work, call("write", path=path, content=content), end]


def _status(story: Story, number: int) -> str:
    """Return the status comment, which comes before anything else that is said."""
    return story.replies(number)[0]


def test_r2_a_repositorys_wishes_for_pull_requests_are_heeded(tmp_path: Path) -> None:
    files = {".patchwright.toml": CONFIG, ".github/pull_request_template.md": TEMPLATE}
    with telling(tmp_path, fix_turns(), files=files) as story:
        story.github.add_user("bo")
        story.github.grant(REPO, "bo", "write")
        number = story.github.open_issue(REPO, "alice", "Wrong sum", WISH)
        milestone = adorning.add_milestone(story.github.world, REPO, "1.0")
        adorning.set_milestone(story.github.world, REPO, number, milestone)
        story.tell()
        story.work()
        [pull] = story.github.pull_requests(REPO)
        seen = story.github.issue(REPO, pull.number)
        assert pull.title == f"fix: Count every piece (#{number})"
        assert (
            "## Description\n\nThe agent wrote:\n\n> The total ignored the pieces.\n\n"
            in without_marks(pull.body)
        )
        assert "## Checklist\n- [ ] read\n" in pull.body
        assert (seen.labels, seen.assignees) == (("bot",), ("alice",))
        assert seen.milestone == milestone
        assert adorning.awaited(story.github.world, seen).people == ("bo",)
        assert "`nobody` could not be asked to review" in _status(story, number)


def test_r2_what_people_wrote_into_our_pull_request_stays(tmp_path: Path) -> None:
    again = [
        call("write", path="note.txt", content="Done.\n"),
        call("finish", title="Add a note", summary="Added a note."),
    ]
    with telling(tmp_path, [*fix_turns(), *again]) as story:
        number = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        body = f"Mind the cents, @bo.\n\n{pull.body}"
        story.github.edit_issue(
            REPO, pull.number, "alice", title="Sum up all pieces", body=body
        )
        story.say(number, "@patchwright add a note")
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert pull.title == "Sum up all pieces"
        assert pull.body.startswith("Mind the cents, @bo.\n\n<!-- patchwright:body ")
        assert "Added a note." in pull.body
        # The pull request has the work of both runs.
        assert "The total ignored the pieces." in pull.body
        story.replies(number)


def test_r7_a_skipped_test_makes_a_draft_and_is_told(tmp_path: Path) -> None:
    skipped = "import unittest\n\n\n@unittest.skip('later')\nclass A: ...\n"
    with telling(tmp_path, _with("test_more.py", skipped)) as story:
        number = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert pull.draft
        assert (
            "### Look at this first\n\n- Tests are left out in `test_more.py` that "
            "would run: `@ unittest.skip`.\n"
        ) in pull.body
        story.replies(number)


def test_r8_a_protected_path_is_asked_about_and_the_work_kept(tmp_path: Path) -> None:
    with telling(tmp_path, _with("CODEOWNERS", "* @alice\n")) as story:
        number = story.ask(WISH)
        story.work()
        assert story.outcome().reason == "protected-paths"
        assert story.github.pull_requests(REPO) == []
        assert story.branches() == ["patchwright/1-wrong-sum"]
        reply = _status(story, number)
        assert "**Needs you**" in reply
        assert "- `CODEOWNERS`: `CODEOWNERS`" in reply


def test_r8_a_workflow_becomes_a_patch_and_no_branch(tmp_path: Path) -> None:
    turns = _with(".github/workflows/ci.yml", "on: push\n")
    with telling(tmp_path, turns) as story:
        number = story.ask(WISH)
        story.work()
        assert story.branches() == []
        assert "+++ b/.github/workflows/ci.yml" in _status(story, number)


def test_r8_a_secret_in_a_change_goes_nowhere(tmp_path: Path) -> None:
    # In one piece it would be blotted out on its way into the sandbox.
    put = f"printf 'KEY = \"%s%s\"' {TOKEN[:8]} {TOKEN[8:]} > settings.py"
    *work, end = fix_turns()
    with telling(tmp_path, [*work, call("shell", command=put), end]) as story:
        number = story.ask(WISH)
        story.work()
        assert story.outcome().reason == "secret-in-diff"
        assert (story.branches(), story.github.pull_requests(REPO)) == ([], [])
        reply = _status(story, number)
        assert "- `settings.py`, line 1" in reply
        assert TOKEN not in reply


def test_r9_s36_where_signatures_are_required_github_signs(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        set_rules(story.github.world, REPO, Rules(signatures=True))
        number = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert is_signed(story.github.world.repo(REPO), pull.head_sha)
        story.replies(number)


def test_r9_where_no_branch_may_be_made_the_rule_and_a_patch_are_told(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        set_rules(story.github.world, REPO, Rules(no_new_branches=True))
        number = story.ask(WISH)
        story.work()
        assert story.branches() == []
        reply = _status(story, number)
        assert "New branches with this name are not allowed." in reply
        assert "+++ b/cart.py" in reply
