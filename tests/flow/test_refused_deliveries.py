"""What GitHub refuses is named with its rule, and the work is kept where it can be."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.github.acts.repositories import delete_reference
from tests.fakes.github.acts.rules import set_rules
from tests.fakes.github.rule_state import Rules
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.endings import final_message
from tests.flow.script import Request, in_turn
from tests.flow.story import REPO, Story, fix_turns, telling
from tests.flow.text import steady

WISH = "@patchwright fix the sum"
BRANCH = "patchwright/1-wrong-sum"
ON_BRANCH = f"The change is on [`{BRANCH}`](GITHUB/acme/shop/tree/{BRANCH})."
ONE_CLICK = (
    f"[Open the pull request](GITHUB/acme/shop/compare/main...{BRANCH}) yourself, in "
    "one click."
)
AS_PATCH = "+++ b/cart.py\n"
NOT_DELIVERED = (OutcomeKind.FAILED, "not-delivered")
UNSIGNED = {"PATCHWRIGHT_GITHUB__COMMIT_SIGNING": "none"}


@dataclass(frozen=True)
class Refused:
    """Who stands in the way, and what is told of it; `then` is what a reader can do."""

    prepare: Callable[[Story], None]
    rule: str
    then: str
    kept: tuple[str, ...]
    settings: dict[str, str] = field(default_factory=dict)


def _refuse_pull_requests(status: int, body: object) -> Callable[[Story], None]:
    return lambda story: story.github.fail_next("POST", r"/pulls$", status, body=body)


def _rule(rules: Rules) -> Callable[[Story], None]:
    return lambda story: set_rules(story.github.world, REPO, rules)


def _protect(story: Story) -> None:
    story.github.protect_branch(REPO, BRANCH)


def _take_rights(story: Story) -> None:
    world = story.github.world
    for number, found in world.installations.items():
        held = {**found.permissions, "contents": "read"}
        world.installations[number] = replace(found, permissions=held)


def _invalid(**problem: str) -> object:
    return {
        "message": "Validation Failed",
        "errors": [{"resource": "PullRequest", **problem}],
    }


REFUSALS = {
    "s37_actions_may_not_open_pull_requests": Refused(
        _refuse_pull_requests(
            403,
            {
                "message": "GitHub Actions is not permitted to create or approve "
                "pull requests."
            },
        ),
        "GitHub Actions cannot open pull requests here.",
        "Tick “Allow GitHub Actions to create and approve pull requests”",
        (ON_BRANCH, ONE_CLICK, "**Done, proven** · needs a click · 4 steps"),
    ),
    "r9_protected_branch": Refused(
        _protect,
        "The branch is protected.",
        "Ask in an issue: then it uses its own branch.",
        (AS_PATCH,),
        UNSIGNED,
    ),
    "s36_signatures": Refused(
        _rule(Rules(signatures=True)),
        "Commits must be signed.",
        "Ask whoever runs this Patchwright to sign its commits.",
        (AS_PATCH,),
        UNSIGNED,
    ),
    "r9_no_new_branches": Refused(
        _rule(Rules(no_new_branches=True)),
        "New branches with this name are not allowed.",
        "set another name: `branch` in `.patchwright.toml`.",
        (AS_PATCH,),
    ),
    "r9_no_right_to_write": Refused(
        _take_rights,
        "The bot has no permission for this.",
        "Give the App `contents: write`",
        (AS_PATCH,),
    ),
    "s33_field_that_is_known": Refused(
        _refuse_pull_requests(422, _invalid(field="base", code="invalid")),
        "The target branch does not exist any more.",
        "Set another branch: `base` in `.patchwright.toml`.",
        (ON_BRANCH, "**Done, proven** · not delivered · 4 steps"),
    ),
    "s33_field_that_is_not": Refused(
        _refuse_pull_requests(422, _invalid(field="title", code="custom")),
        "GitHub answered 422: Validation Failed; title: custom",
        ONE_CLICK,
        (ON_BRANCH,),
    ),
}


@pytest.mark.parametrize("refused", REFUSALS.values(), ids=REFUSALS.keys())
def test_r9_a_refusal_names_its_rule_and_the_work_is_kept(
    tmp_path: Path, refused: Refused
) -> None:
    def refuse(_request: Request) -> TurnLike:
        refused.prepare(story)
        return finish

    *steps, finish = fix_turns()
    with telling(tmp_path, in_turn(*steps, refuse), settings=refused.settings) as story:
        number = story.ask(WISH)
        story.work()
        # A patch in a message is no delivery.
        is_there = AS_PATCH not in refused.kept
        ended = (OutcomeKind.RESOLVED, "") if is_there else NOT_DELIVERED
        said = steady(final_message(story, number, *ended, calls=1))
        assert f"The result could not be delivered: {refused.rule}" in said
        for told in (refused.then, *refused.kept):
            assert told in said
        assert (ON_BRANCH in said) == (story.branches() == [BRANCH])
        assert story.github.pull_requests(REPO) == []
        [called] = story.pings(number)
        assert "· see above why" in called


def test_r9_a_workflow_is_not_pushed_without_the_permission_for_it(
    tmp_path: Path,
) -> None:
    add = call("write", path=".github/workflows/ci.yml", content="on: push\n")
    *steps, finish = fix_turns()
    lax = {".patchwright.toml": "protected_paths = []\n"}
    with telling(tmp_path, [*steps, add, finish], files=lax) as story:
        number = story.ask(WISH)
        story.work()
        said = final_message(story, number, *NOT_DELIVERED, calls=1)
        assert "Give the App the permission `workflows: write`" in said
        assert "+++ b/.github/workflows/ci.yml" in said
        assert story.branches() == []


def test_r9_a_base_that_is_gone_is_named_and_the_branch_kept(tmp_path: Path) -> None:
    def remove_base(_request: Request) -> TurnLike:
        world = story.github.world
        with world.lock:
            delete_reference(world, world.repo(REPO), "refs/heads/next", "alice")
        return finish

    *steps, finish = fix_turns()
    onto = {".patchwright.toml": 'base = "next"\n'}
    with telling(tmp_path, in_turn(*steps, remove_base), files=onto) as story:
        story.github.commit_files(REPO, "next", {"next.txt": "1\n"})
        number = story.ask(WISH)
        story.work()
        said = steady(final_message(story, number, OutcomeKind.RESOLVED, calls=1))
        assert "The target branch does not exist any more." in said
        assert ON_BRANCH in said
        assert "in one click" not in said


def test_r9_what_became_of_an_archived_repository_is_told_when_it_can_be(
    tmp_path: Path,
) -> None:
    def archive(_request: Request) -> TurnLike:
        set_rules(story.github.world, REPO, Rules(archived=True))
        return finish

    *steps, finish = fix_turns()
    with telling(tmp_path, in_turn(*steps, archive)) as story:
        number = story.ask(WISH)
        story.work()
        assert "state=running" in story.reply(number)
        set_rules(story.github.world, REPO, Rules())
        story.work_later(10)
        said = final_message(story, number, *NOT_DELIVERED, calls=1)
        assert "The repository is archived. Unarchive it, then ask again." in said
        assert AS_PATCH in said


def test_r8_however_long_the_agents_words_are_all_that_is_said_fits(
    tmp_path: Path,
) -> None:
    *steps, _ = fix_turns()
    finish = call(
        "finish",
        title="Count every piece",
        summary=f"HEAD{'x' * 70_000}TAIL",
        test_commands=["python3 -m unittest test_pieces"],
    )
    with telling(tmp_path, [*steps, finish]) as story:
        number = story.ask(WISH)
        story.work()
        said = final_message(story, number, OutcomeKind.RESOLVED, calls=1)
        [pull] = story.github.pull_requests(REPO)
        for text in (said, pull.body):
            assert "HEAD" in text
            assert "TAIL" in text
            assert "characters cut" in text
        assert "python3 -m unittest test_pieces" in pull.body
        assert "Closes #1" in pull.body
