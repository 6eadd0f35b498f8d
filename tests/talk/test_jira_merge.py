"""Once its pull request is merged, a ticket moves on."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.job import JobState
from tests.fakes.github.webhooks.outbox import signatures
from tests.flow.office import Office, in_office
from tests.flow.script import in_turn
from tests.flow.story import REPO, WEBHOOK_SECRET, fix_turns
from tests.flow.tickets import ask, calls, reply

both = pytest.mark.parametrize("cloud", [True, False], ids=["cloud", "datacenter"])


def close(office: Office, *, is_merged: bool) -> None:
    """Close the pull request, and tell the service of it."""
    office.story.github.close_issue(REPO, 1, "alice")
    told = office.story.github.deliveries[-1]
    facts = json.loads(told.body)
    facts["pull_request"]["merged"] = is_merged
    body = json.dumps(facts).encode()
    headers = {**told.headers, **signatures(WEBHOOK_SECRET, body)}
    office.story.deliver(replace(told, headers=headers, body=body))
    office.story.work()


def moving(status: str) -> dict[str, str]:
    return {"PATCHWRIGHT_JIRA__TRANSITIONS": json.dumps({"on_merge": status})}


@both
def test_c7_a_merge_moves_the_ticket_without_a_word(
    tmp_path: Path, *, cloud: bool
) -> None:
    with in_office(
        tmp_path, in_turn(*fix_turns()), cloud=cloud, settings=moving("Done")
    ) as office:
        fake = office.jira.fake
        key = ask(office)
        assert fake.issue(key).status == "To Do"
        close(office, is_merged=True)
        assert fake.issue(key).status == "Done"
        assert reply(office, key).startswith("*Done, proven*")
        assert len(calls(office, key)) == 1
        _, after = office.story.jobs()
        assert after.outcome is not None
        assert (after.outcome.kind, after.outcome.reason) == (
            OutcomeKind.NO_CHANGE,
            "merged",
        )
        assert office.story.replies(1) == []


def test_c7_what_is_closed_without_a_merge_moves_nothing(tmp_path: Path) -> None:
    with in_office(tmp_path, in_turn(*fix_turns()), settings=moving("Done")) as office:
        key = ask(office)
        close(office, is_merged=False)
        assert office.jira.fake.issue(key).status == "To Do"
        assert reply(office, key).startswith("*Done, proven*")
        assert len(calls(office, key)) == len(office.story.jobs()) == 1


def test_c7_where_no_way_leads_after_a_merge_the_ticket_stays(tmp_path: Path) -> None:
    with in_office(
        tmp_path, in_turn(*fix_turns()), settings=moving("Shipped")
    ) as office:
        key = ask(office)
        close(office, is_merged=True)
        assert office.jira.fake.issue(key).status == "To Do"
        assert all(job.state is JobState.DONE for job in office.story.jobs())
        assert reply(office, key).startswith("*Done, proven*")
        assert len(calls(office, key)) == 1
