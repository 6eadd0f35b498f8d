"""People whom a request mentions are shown by name, whatever its delivery has."""

from patchwright.core.types.triggers import Trigger
from patchwright.integrations.slack.adapter import Slack
from tests.adapters.slack.conftest import Office
from tests.fakes.slack.fake import FakeSlack


def asking(office: Office, request: str) -> Trigger:
    trigger = office.trigger(office.thread("1.000001"))
    return trigger.replace(request=request, title=request)


def test_ids_become_names_in_all_texts(slack: Slack, office: Office) -> None:
    trigger = asking(office, f"as @{office.bob} says, not a@{office.bob}.org or @U999")
    named = slack.channel.name_people(trigger)
    assert named.request == f"as @Bob B. says, not a@{office.bob}.org or @U999"
    assert named.title == named.request


def test_who_asks_is_named_with_one_call_and_nobody_else(
    slack: Slack, office: Office, fake: FakeSlack
) -> None:
    trigger = asking(office, "write to a@example.org")
    for _ in range(2):
        named = slack.channel.name_people(trigger)
        assert named == trigger.replace(actor=named.actor)
        assert named.actor == trigger.actor.replace(login="Ann")
    assert len(fake.calls) == 1


def test_where_names_cannot_be_learned_the_ids_stay(
    slack: Slack, office: Office, fake: FakeSlack
) -> None:
    fake.faults.fail_next("users.info", "missing_scope", times=9)
    trigger = asking(office, f"as @{office.bob} says")
    assert slack.channel.name_people(trigger) == trigger
