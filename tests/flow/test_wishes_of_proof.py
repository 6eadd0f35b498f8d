"""A repository says how a change is proven, prepared and described."""

from pathlib import Path

import pytest

from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, Story, fix_turns, telling
from tests.flow.text import without_marks

WISH = "@patchwright please fix the sum"


def wishing(text: str) -> dict[str, str | bytes]:
    return {".patchwright.toml": text}


def body_of(story: Story) -> str:
    [pull] = story.github.pull_requests(REPO)
    return without_marks(pull.body)


def unproven_turns() -> list[TurnLike]:
    """Return what a model does that fixes it and writes no test."""
    fix = fix_turns()[2]
    return [fix, call("finish", title="Count every piece", summary="Counted.")]


def test_the_text_of_a_pull_request_is_a_repositorys_own(tmp_path: Path) -> None:
    rules = (
        'body = """\n# {{title}} ({{number}})\n\n{{summary}}\n\n'
        '<!-- {{evidence}} -->\nAsked by {{requester}}. {{closes}}\n"""\n'
    )
    with telling(tmp_path, fix_turns(), files=wishing(rules)) as story:
        issue = story.ask(WISH)
        story.work()
        body = body_of(story)
        start = (
            "# Count every piece (1)\n\n"
            "The agent wrote:\n\n> The total ignored the pieces.\n\n"
        )
        assert start in body
        assert "Asked by alice. Closes #1" in body
        # What must be said is, and is not in a comment.
        assert "### Evidence\n\n🟢 **Proven**" in body
        assert body.startswith("<!-- patchwright:body ")
        assert "files** changed" not in body
        assert "**Done, proven** · #2" in story.reply(issue)


@pytest.mark.parametrize(
    ("evidence", "draft"), [("required", True), ("best-effort", False)]
)
def test_without_proof_a_change_is_a_draft_where_proof_is_required(
    tmp_path: Path, evidence: str, *, draft: bool
) -> None:
    rules = f'evidence = "{evidence}"\n'
    with telling(tmp_path, unproven_turns(), files=wishing(rules)) as story:
        issue = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert pull.draft is draft
        assert "**Not proven**" in pull.body
        assert "**Not proven**" in story.reply(issue)


def test_l1_a_change_without_proof_is_a_draft_where_ready_ones_are_wished_for(
    tmp_path: Path,
) -> None:
    rules = wishing('deliver = "ready"\n')
    with telling(tmp_path, unproven_turns(), files=rules) as story:
        issue = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert pull.draft
        assert "**Not proven**" in story.reply(issue)


def test_by_best_effort_a_test_that_fails_makes_a_draft(tmp_path: Path) -> None:
    fix = fix_turns()[2]
    end = call("finish", title="t", summary="s", test_commands=["python3 -c 'exit(1)'"])
    rules = 'evidence = "best-effort"\n'
    with telling(tmp_path, [fix, end], files=wishing(rules)) as story:
        issue = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert pull.draft
        story.reply(issue)


def test_without_evidence_nothing_is_run_and_nothing_is_claimed(tmp_path: Path) -> None:
    rules = 'evidence = "off"\ntest = ["touch /tmp/ran"]\n'
    with telling(tmp_path, fix_turns(), files=wishing(rules)) as story:
        issue = story.ask(WISH)
        story.work()
        outcome = story.outcome()
        assert (outcome.proof, outcome.evidence) == (Proof.NONE, ())
        [pull] = story.github.pull_requests(REPO)
        assert pull.draft
        for said in (pull.body, story.reply(issue)):
            assert "**No evidence**" in said
            assert "Proven" not in said
            assert "proven" not in said
            assert "pass" not in said


def test_a_set_up_that_fails_may_be_gone_on_without(tmp_path: Path) -> None:
    def look(request: Request) -> TurnLike:
        assert "The work continues without it." in asked(request)
        return first

    first, *work = fix_turns()
    rules = 'setup = ["exit 3", "touch /tmp/second"]\non_setup_failure = "continue"\n'
    with telling(tmp_path, in_turn(look, *work), files=wishing(rules)) as story:
        issue = story.ask(WISH)
        story.work()
        told = "The repository's set-up failed (exit 3): `exit 3`."
        assert told in story.outcome().notes
        assert told in body_of(story)
        assert "**Proven**" in body_of(story)
        assert told in story.reply(issue)


def test_a_set_up_that_fails_ends_a_run_before_a_model_is_paid(tmp_path: Path) -> None:
    with telling(tmp_path, [], files=wishing('setup = "echo no; exit 3"\n')) as story:
        issue = story.ask(WISH)
        story.work()
        outcome = story.outcome()
        assert (outcome.kind, outcome.reason) == (OutcomeKind.FAILED, "setup-failed")
        assert story.provider.requests == []
        assert "(exit 3): `echo no; exit 3`" in story.reply(issue)
