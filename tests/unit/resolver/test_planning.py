"""When a plan is wanted first."""

import pytest

from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Task, TaskMode
from patchwright.resolver.publish.target import plan_first, wants_plan

REPO = RepoRef(forge="github", full_name="acme/shop")
CAREFUL = RepositoryConfig(plan_approval="comment")


def trigger(request: str, kind: TriggerKind = TriggerKind.COMMENT_MENTION) -> Trigger:
    return Trigger(
        key="k",
        kind=kind,
        actor=Actor(service="github", login="alice"),
        thread=ForgeThread(repo=REPO, kind=ThreadKind.ISSUE, number=1),
        request=request,
    )


@pytest.mark.parametrize(
    ("request_text", "planned"),
    [("plan", True), ("plan the move", True), ("fix it", False), ("retry", False)],
)
def test_t9_who_says_plan_gets_one(request_text: str, *, planned: bool) -> None:
    assert wants_plan(trigger(request_text), RepositoryConfig()) is planned
    assert wants_plan(trigger(request_text), CAREFUL)


@pytest.mark.parametrize(
    ("kind", "planned"),
    [
        (TriggerKind.LABEL, True),
        (TriggerKind.ASSIGNMENT, True),
        (TriggerKind.REVIEW, True),
        (TriggerKind.CHECKS, False),
        (TriggerKind.CONFLICT, False),
    ],
)
def test_a_careful_repository_sees_each_plan_once(
    kind: TriggerKind, *, planned: bool
) -> None:
    assert wants_plan(trigger("", kind), CAREFUL) is planned


def test_a_review_that_says_plan_is_no_command() -> None:
    review = trigger("plan", TriggerKind.REVIEW)
    assert not wants_plan(review, RepositoryConfig())


def test_the_task_stays_in_front_of_what_is_said_about_plans() -> None:
    task = Task(text="Fix the sum.", base_sha="0" * 40)
    planned = plan_first(task)
    assert planned.mode is TaskMode.PLAN
    assert planned.text.startswith("Fix the sum.\n\nWhat is wanted now is a plan")
