"""However a request on GitLab ends, its thread says so: once, and what comes next."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.job import JobState
from tests.fakes.gitlab import Level, PushRules
from tests.fakes.llm.turns import Script, Turn, TurnLike, call
from tests.flow.gitlab_story import BRANCH, SHOP, GitLabStory, telling_gitlab
from tests.flow.script import Request, in_turn
from tests.flow.story import fix_turns
from tests.flow.text import steady

WISH = "@patchwright fix the sum"
NOTE = call("write", path="note.txt", content="Done.\n")
POOR = {
    "PATCHWRIGHT_LIMITS__MAX_COST_USD": "0.0001",
    "PATCHWRIGHT_LLM__INPUT_COST_PER_TOKEN": "0.01",
    "PATCHWRIGHT_LLM__OUTPUT_COST_PER_TOKEN": "0.01",
}


@dataclass(frozen=True)
class End:
    """What the model does, what the house allows, and what is told of it."""

    turns: Callable[[], Script]
    kind: OutcomeKind
    told: tuple[str, ...]
    reason: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    calls: int = 0


ENDS = {
    "no change": End(
        lambda: [call("finish", summary="The sum is right.")],
        OutcomeKind.NO_CHANGE,
        ("**No change**", "> The sum is right."),
    ),
    "a question": End(
        lambda: ["Cents, or euros?"] * 3,
        OutcomeKind.NEEDS_INPUT,
        ("**Needs you**", "> Cents, or euros?", "Reply here with your answer."),
        "question",
        calls=1,
    ),
    "no money": End(
        list,
        OutcomeKind.OVER_BUDGET,
        ("**Over budget**",),
        "budget",
        POOR,
    ),
    "a key that the provider refuses": End(
        lambda: [Turn(status=401)],
        OutcomeKind.FAILED,
        ("**Failed** (",),
        "model-credential",
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_p2_every_end_on_gitlab_is_told_once(tmp_path: Path, name: str) -> None:
    end = ENDS[name]
    with telling_gitlab(tmp_path, end.turns(), settings=end.settings) as story:
        issue = story.ask(WISH)
        said = story.reply(issue)
        assert (story.outcome().kind, story.outcome().reason) == (end.kind, end.reason)
        assert all(words in said for words in end.told), said
        assert len(story.pings(issue)) == end.calls
        assert story.gitlab.merge_requests(SHOP) == []
        assert story.branches() == []


def test_a_plan_that_is_approved_becomes_a_merge_request(tmp_path: Path) -> None:
    plan = call("finish", summary="A plan.", answer="1. Test it.\n2. Fix it.")
    wants_plans = {".patchwright.toml": 'plan_approval = "comment"\n'}
    turns = in_turn(plan, *fix_turns())
    with telling_gitlab(tmp_path, turns, files=wants_plans) as story:
        issue = story.ask(WISH)
        said = story.reply(issue)
        assert "1. Test it." in said
        assert "Reply `approve` to start" in said
        assert story.pings(issue)
        story.say(issue, "approve", author="eve")
        assert story.gitlab.merge_requests(SHOP) == []
        story.say(issue, "approve")
        assert story.merge_request().title == "Count every piece"
        assert story.reply(issue).startswith("**Done, proven** · !1 · 5 steps")
        assert [one.partition(" · ")[0] for one in story.pings(issue)] == [
            "@alice **Plan**",
            "@alice **Done, proven**",
        ]


def test_a_plain_reply_answers_a_run_that_waits(tmp_path: Path) -> None:
    answer = call("finish", summary="Looked.", answer="It counts in cents.")
    turns = in_turn(*["Cents, or euros?"] * 3, answer)
    with telling_gitlab(tmp_path, turns) as story:
        issue = story.ask(WISH)
        assert story.jobs()[0].state is JobState.WAITING_USER
        story.say(issue, "Euros!", author="eve")
        assert story.jobs()[0].state is JobState.WAITING_USER
        note = story.say(issue, "In cents, always.")
        told = story.replies(issue)
        assert "It counts in cents." in told[-1]
        assert len(story.jobs()) == 1
        assert story.awards(issue, note) == ["eyes"]
        assert story.pings(issue)


def test_stop_ends_a_run_on_gitlab_and_keeps_its_work(tmp_path: Path) -> None:
    def stop(_request: Request) -> TurnLike:
        story.gitlab.comment(SHOP, 1, "alice", "@patchwright stop")
        story.tell()
        return call("shell", command="touch must_not_run")

    with telling_gitlab(tmp_path, in_turn(NOTE, stop)) as story:
        issue = story.ask(WISH)
        said = steady(story.reply(issue))
        assert said.startswith("**Stopped** · 2 steps")
        assert "Stopped by @alice." in said
        assert (
            f"The work so far is on [`{BRANCH}`](GITHUB/{SHOP}/-/tree/{BRANCH})" in said
        )
        assert story.gitlab.merge_requests(SHOP) == []
        assert story.jobs()[0].state is JobState.CANCELLED
        assert story.branches() == [BRANCH]


@dataclass(frozen=True)
class Refused:
    """Who stands in the way of a push, and what is told of it."""

    prepare: Callable[[GitLabStory], None]
    told: tuple[str, ...]


def _rules(rules: PushRules) -> Callable[[GitLabStory], None]:
    return lambda story: story.gitlab.set_rules(SHOP, rules)


def _protect(story: GitLabStory) -> None:
    story.gitlab.protect_branch(SHOP, BRANCH)


def _take_rights(story: GitLabStory) -> None:
    story.gitlab.grant(SHOP, "patchwright", Level.REPORTER)


REFUSALS = {
    "protected branch": Refused(
        _protect,
        (
            "The branch is protected. The bot does not write to protected branches.",
            "GitLab: You are not allowed to push code to protected branches",
        ),
    ),
    "rule for messages": Refused(
        _rules(PushRules(commit_message="^PROJ-[0-9]+")),
        ("A push rule demands that commit messages match `^PROJ-[0-9]+`.",),
    ),
    "rule for branches": Refused(
        _rules(PushRules(branch_name="^(feature|fix)/")),
        (
            "A push rule demands that names of branches match `^(feature|fix)/`.",
            "Set such a name: `branch` in `.patchwright.toml`.",
        ),
    ),
    "rule for signatures": Refused(
        _rules(PushRules(reject_unsigned=True)), ("Commits must be signed.",)
    ),
    "rule for files": Refused(
        _rules(PushRules(file_name=r"\.py$")),
        (r"A push rule forbids files whose names match `\.py$`.",),
    ),
    "no right to push": Refused(_take_rights, ("permission",)),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_r9_a_push_that_gitlab_refuses_is_named_by_its_rule_and_the_work_kept(
    tmp_path: Path, name: str
) -> None:
    refused = REFUSALS[name]
    with telling_gitlab(tmp_path, fix_turns()) as story:
        refused.prepare(story)
        issue = story.ask(WISH)
        said = story.reply(issue)
        assert (story.outcome().kind, story.outcome().reason) == (
            OutcomeKind.FAILED,
            "not-delivered",
        )
        assert "+++ b/cart.py\n" in said
        for words in refused.told:
            assert words in said
        assert "pull request" not in said
        assert story.branches() == []
        assert story.gitlab.merge_requests(SHOP) == []
        assert len(story.pings(issue)) == 1


def test_s33_a_merge_request_that_gitlab_refuses_leaves_a_branch_and_a_link(
    tmp_path: Path,
) -> None:
    with telling_gitlab(tmp_path, fix_turns()) as story:
        story.gitlab.fail_next(
            "POST",
            "/merge_requests$",
            403,
            body={"message": "403 Forbidden"},
            times=20,
        )
        issue = story.ask(WISH)
        said = steady(story.reply(issue))
        assert f"The change is on [`{BRANCH}`](GITHUB/{SHOP}/-/tree/{BRANCH})." in said
        assert (
            "[Open the merge request](GITHUB/acme/tools/shop/-/merge_requests/" in said
        )
        assert story.branches() == [BRANCH]
        assert story.pings(issue)
