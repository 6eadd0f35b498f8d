"""What comes twice from Slack counts once, and what asks for nothing does nothing."""

import json
from pathlib import Path

from tests.fakes.slack.sending import Delivery
from tests.flow.office import Office, in_office
from tests.flow.script import in_turn
from tests.flow.story import fix_turns


def once(office: Office, thread: str) -> None:
    """Fail unless one run was made, with one message and one call."""
    office.story.work()
    slack = office.slack
    assert len(office.story.jobs()) == 1
    [done] = slack.runs(thread)
    assert "|pull request #1>" in done.shown
    assert len(slack.answers(thread)) == 1 + len(slack.calls(thread))


def renamed(delivery: Delivery) -> Delivery:
    """Return the same event under another id, as another subscription brings it."""
    body = json.loads(delivery.body) | {"event_id": "Ev0THER"}
    return Delivery(
        name=delivery.name,
        content_type=delivery.content_type,
        body=json.dumps(body).encode(),
    )


def test_s68_one_mention_is_one_run_however_often_it_comes(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(*fix_turns())) as office:
        fake = office.slack.fake
        thread = office.slack.ask("fix the total in acme/shop")
        first = fake.delivery("app_mention")
        for _ in range(3):
            fake.redeliver(first)
        fake.redeliver(renamed(first))
        once(office, thread)
        fake.redeliver(first)
        fake.redeliver(renamed(first))
        once(office, thread)
        statuses = {receipt.status for receipt in first.receipts}
        assert statuses == {200}


def test_two_mentions_within_a_second_are_one_run(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(*fix_turns())) as office:
        thread = office.slack.ask("fix the total in acme/shop")
        office.slack.ask("please", thread=thread)
        once(office, thread)


def test_s69_edits_deletions_and_previews_are_taken_and_ignored(
    tmp_path: Path,
) -> None:
    with in_office(tmp_path, in_turn(*fix_turns())) as office:
        slack = office.slack
        thread = slack.ask("fix the total in acme/shop, see https://example.com")
        said = slack.fake.say(slack.max, slack.channel, "good luck", thread)
        slack.fake.edit(
            slack.channel, thread, f"<@{slack.bot}> fix the total in acme/shop now"
        )
        slack.fake.unfurl(slack.channel, thread, "https://example.com")
        slack.fake.delete(slack.channel, said)
        once(office, thread)
        slack.fake.edit(slack.channel, thread, f"<@{slack.bot}> fix it")
        once(office, thread)
        assert {one.status for one in slack.fake.deliveries} == {200}
