"""Who asks is who put the words there; our own words ask nothing."""

from typing import Any

import pytest

from tests.unit.github.samples import (
    BO,
    bot,
    comment,
    delivery,
    issue,
    reason_of,
    trigger_of,
)


def test_s11_a_person_who_adds_the_mention_by_an_edit_is_checked() -> None:
    edit = comment(
        "@patchwright go", "edited", changes={"body": {"from": None}}, sender=BO
    )
    trigger = trigger_of("issue_comment", edit)
    assert (trigger.actor.login, trigger.others) == ("bo", ())


def test_s11_the_author_is_checked_not_who_moved_the_text() -> None:
    payload = delivery("opened", sender=BO, issue=issue(body="@patchwright go"))
    trigger = trigger_of("issues", payload)
    assert trigger.actor.login == "ann"
    assert [other.login for other in trigger.others] == ["bo"]


@pytest.mark.parametrize("sender", [bot("patchwright[bot]"), {"login": "Patchwright"}])
def test_s08_own_text_never_triggers(sender: dict[str, Any]) -> None:
    own = comment("Say @patchwright to retry", sender=sender)
    assert reason_of("issue_comment", own) == "own-text"


def test_s08_the_own_app_in_a_persons_name_never_triggers() -> None:
    written = {
        "id": 1,
        "body": "@patchwright go",
        "performed_via_github_app": {"slug": "patchwright"},
    }
    assert reason_of("issue_comment", comment("", comment=written)) == "own-text"


def test_s08_own_text_never_triggers_whoever_edits_it() -> None:
    written = {"id": 1, "body": "@patchwright go", "user": bot("patchwright[bot]")}
    edit = comment(
        "", "edited", comment=written, changes={"body": {"from": "Hm"}}, sender=BO
    )
    assert reason_of("issue_comment", edit) == "own-text"


def test_s08_own_label_never_triggers() -> None:
    label = delivery(
        "labeled", label={"name": "fix-me"}, sender=bot("patchwright[bot]")
    )
    assert reason_of("issues", label) == "own-act"


def test_s08_a_persons_edit_of_a_bots_text_counts_as_the_persons() -> None:
    written = {"id": 1, "body": "@patchwright go", "user": bot("renovate[bot]")}
    edit = comment(
        "", "edited", comment=written, changes={"body": {"from": "Hm"}}, sender=BO
    )
    trigger = trigger_of("issue_comment", edit)
    assert (trigger.actor.login, trigger.others) == ("bo", ())


@pytest.mark.parametrize(
    "user", [bot("dependabot[bot]"), {"login": "x[bot]", "type": "User"}]
)
def test_s10_another_bot_is_marked_as_a_bot(user: dict[str, Any]) -> None:
    written = {"id": 1, "body": "@patchwright go", "user": user}
    trigger = trigger_of("issue_comment", comment("", comment=written, sender=user))
    assert trigger.actor.is_bot
    assert trigger.actor.login == user["login"]
