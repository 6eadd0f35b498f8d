"""A mode puts what is wanted into the request, and leaves commands alone."""

import pytest

from patchwright.core.ci.triggers import with_mode
from patchwright.core.commands import Verb, parse_command
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind


def trigger(request: str, kind: ThreadKind = ThreadKind.ISSUE) -> Trigger:
    repo = RepoRef(forge="github", full_name="acme/shop")
    return Trigger(
        key="k",
        kind=TriggerKind.COMMENT_MENTION,
        actor=Actor(service="github", login="alice"),
        thread=ForgeThread(repo=repo, kind=kind, number=1),
        request=request,
    )


def test_a_plan_is_asked_for_by_the_command_for_it() -> None:
    command = parse_command(with_mode(trigger("mend the sum"), "plan").request)
    assert command is not None
    assert (command.verb, command.argument) == (Verb.PLAN, "mend the sum")


def test_a_command_stays_one() -> None:
    assert with_mode(trigger("stop"), "answer") == trigger("stop")


@pytest.mark.parametrize("mode", ["review-feedback", "ci-fix"])
def test_what_is_for_pull_requests_needs_one(mode: str) -> None:
    with pytest.raises(
        SettingsError, match="which works only on pull requests; #1 is not one"
    ):
        with_mode(trigger("x"), mode)
    found = with_mode(trigger("", ThreadKind.PULL_REQUEST), mode)
    assert "pull request" in found.request
