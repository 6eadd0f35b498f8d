"""The Action says so where the workflow lets through what it does not listen to."""

from pathlib import Path

import pytest

from patchwright.integrations.github.ci.workflow import check_workflow, find_workflow
from tests.architecture.tree import ROOT

EXAMPLES = sorted(Path(ROOT, "docs", "examples", "workflows").glob("*.yml"))
GATE = """
on: issue_comment
jobs:
  bot:
    if: >-
      github.event.sender.type != 'Bot' &&
      (contains(github.event.comment.body, '@patchwright') ||
      startsWith(github.event.issue.body || '', '/fix'))
    steps:
      - if: contains(github.event.comment.body, '@patchwright please')
        run: echo
"""


def test_both_phrases_are_found() -> None:
    workflow_check = check_workflow(GATE, "@patchwright")
    assert workflow_check.workflow_phrases == (
        "@patchwright",
        "/fix",
        "@patchwright please",
    )
    assert workflow_check.is_sound
    assert str(workflow_check) == (
        "the workflow's `if:` asks for `@patchwright`, `/fix`, `@patchwright please`, "
        "the Action for `@patchwright`"
    )


def test_s06_phrases_that_differ_are_reported_with_the_remedy() -> None:
    gate = GATE.replace("@patchwright", "@bot")
    workflow_check = check_workflow(gate, "/exp")
    assert not workflow_check.is_sound
    assert str(workflow_check) == (
        "the workflow's `if:` asks for `@bot`, `/fix`, `@bot please`, the Action for "
        "`/exp`: no comment has both, so the bot never answers. Write the same phrase "
        "in both: the input `mention`, and the `if:` of the workflow."
    )


@pytest.mark.parametrize(
    ("gate", "phrase"),
    [("@Patchwright", "@patchwright"), ("/exp", "/exp"), ("patch", "@patchwright")],
)
def test_what_every_asking_text_has_is_enough(gate: str, phrase: str) -> None:
    workflow = GATE.replace("@patchwright", gate)
    assert check_workflow(workflow, phrase).is_sound


@pytest.mark.parametrize(
    "workflow",
    [
        "",
        "- a\n- b",
        "jobs: 3",
        "jobs: {a: 1, b: {steps: x, if: true}}",
        "jobs: {a: {steps: [1, {if: 'always()'}]}}",
        "{",
        'jobs: {a: {if: "contains(github.event.comment.body, inputs.phrase)"}}',
        "jobs: {a: {if: \"contains(github.event.label.name, 'bot')\"}}",
    ],
)
def test_a_workflow_without_phrases_has_nothing_to_differ_in(workflow: str) -> None:
    workflow_check = check_workflow(workflow, "@patchwright")
    assert workflow_check.workflow_phrases == ()
    assert workflow_check.is_sound


def test_the_workflow_is_the_one_that_runs() -> None:
    environ = {
        "GITHUB_REPOSITORY": "acme/shop",
        "GITHUB_WORKFLOW_REF": "acme/shop/.github/workflows/bot.yml@refs/heads/main",
        "GITHUB_WORKFLOW_SHA": "a" * 40,
    }
    assert find_workflow(environ) == (".github/workflows/bot.yml", "a" * 40)
    assert find_workflow({**environ, "GITHUB_REPOSITORY": "acme/other"}) is None
    assert find_workflow({}) is None


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_our_examples_are_sound(file: Path) -> None:
    assert check_workflow(file.read_text(), "@patchwright").is_sound
