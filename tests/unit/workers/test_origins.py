"""A change tells where it comes from to those who may know, and what calls us there."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import LinkedIssue, Thread, ThreadPost, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.registry import describe_services
from patchwright.integrations.settings import load_settings
from patchwright.resolver.consent import (
    find_ticket_key,
    with_name,
    with_private_requests,
    with_provenance,
)
from patchwright.resolver.messages.pull_request import RequestOrigin
from patchwright.resolver.publish.destination import PrivateContent
from patchwright.resolver.run_plan import RunPlan
from patchwright.resolver.run_store import LinkedThread
from patchwright.resolver.visibility import Consent, RunVisibility
from tests.unit.resolver.endings import FRAME
from tests.unit.resolver.places import SLACK, WEB, issue, repo, ticket
from tests.unit.resolver.runs import TRIGGER

SETTINGS = load_settings(
    {
        "LLM_MODEL": "openai/x",
        "PATCHWRIGHT_GITHUB__WEB_URL": WEB,
        "PATCHWRIGHT_GITHUB__MENTION": "@fixbot",
        "PATCHWRIGHT_GITHUB__LABEL": "fix",
        "PATCHWRIGHT_JIRA__BASE_URL": "https://acme.atlassian.net",
        "PATCHWRIGHT_JIRA__MENTION": "@jirabot",
        "PATCHWRIGHT_JIRA__LABEL": "fix-it",
    },
    flags={},
    cwd=Path("/nonexistent"),
)
DIRECTORY = describe_services(SETTINGS)
TICKET, ISSUE = ticket("APP-7"), issue("acme/web", 7)
JO = Actor(service="slack", login="Jo Miller", external_id="U1", host="T1")
BOT = Actor(service="slack", login="Patchwright", external_id="U9", is_bot=True)
AT = datetime(2030, 1, 1, tzinfo=UTC)
OPEN = RunVisibility(is_public=True, consent=Consent.SHARE)
KEPT_OUT = RunVisibility(is_public=True, consent=Consent.KEEP_OUT)
PLANNED = RunPlan(frame=FRAME, openness=OPEN)
CHAT_URL = "https://acme.slack.test/archives/C1/p1712345678123456"
CHAT = Thread(
    ref=SLACK,
    title="",
    url=CHAT_URL,
    posts=(
        ThreadPost(id="1", author=JO, text="The sum is off", at=AT),
        ThreadPost(id="2", author=BOT, text="Working on it", at=AT),
    ),
)
TOLD = LinkedIssue(
    name="APP-1", relation="Epic", title="Quarter", text="Globex pays less", author=JO
)
OF_TICKET = Thread(
    ref=TICKET, title="Wrong sum", url="", posts=(), linked_issues=(TOLD,)
)


def asked_in(thread: ThreadRef) -> Trigger:
    return TRIGGER.replace(thread=thread, repo=repo("acme/web"), actor=JO)


def linked(*threads: ThreadRef) -> tuple[LinkedThread, ...]:
    return tuple(LinkedThread(ref=one, is_own_pull=False) for one in threads)


def test_a_change_leads_back_to_ticket_chat_and_issue() -> None:
    tied = linked(TICKET, ISSUE, SLACK)
    found = with_provenance(
        PLANNED, DIRECTORY, asked_in(SLACK), [CHAT, OF_TICKET], tied
    )
    assert found == PLANNED.replace(
        issue=7,
        key="APP-7",
        origins=(
            RequestOrigin(name="a thread in Slack", url=CHAT_URL),
            RequestOrigin(name="APP-7", url="https://acme.atlassian.net/browse/APP-7"),
        ),
    )


def test_a_chat_without_an_address_is_not_named() -> None:
    earlier = PLANNED.replace(issue=7, key="APP-7")
    found = with_provenance(earlier, DIRECTORY, asked_in(SLACK), [], linked(SLACK))
    assert found == PLANNED


def test_an_issue_of_another_repository_is_not_closed() -> None:
    tied = linked(issue("acme/api", 3))
    found = with_provenance(PLANNED, DIRECTORY, asked_in(SLACK), [CHAT], tied)
    assert found.issue is None


def test_what_is_kept_out_is_noted_and_nothing_leads_back() -> None:
    tied = linked(TICKET, ISSUE)
    planned = PLANNED.replace(openness=KEPT_OUT)
    found = with_provenance(
        planned, DIRECTORY, asked_in(SLACK), [CHAT, OF_TICKET], tied
    )
    hidden = found.hidden
    assert found == planned.replace(issue=7, hidden=hidden)
    assert isinstance(hidden, PrivateContent)
    said = {"The sum is off", "Wrong sum", "Quarter", "Globex pays less"}
    assert said <= set(hidden.texts)
    assert {"Jo Miller", "APP-7"} <= set(hidden.names)
    assert "Patchwright" not in hidden.names


def test_h8_what_was_read_in_private_repositories_is_kept_out_of_public_ones() -> None:
    for openness in (OPEN, KEPT_OUT):
        found = with_provenance(
            PLANNED.replace(openness=openness),
            DIRECTORY,
            asked_in(SLACK),
            [CHAT],
            linked(SLACK),
            private_texts=("We buy Initech",),
        )
        hidden = found.hidden
        assert isinstance(hidden, PrivateContent)
        assert "We buy Initech" in hidden.texts


def test_what_is_said_while_it_works_is_kept_out_as_well() -> None:
    beside = asked_in(ISSUE).replace(request="use tabs")
    private = asked_in(SLACK).replace(request="Globex waits")
    known = with_private_requests(
        PrivateContent(texts=("The sum is off",)), [beside, private]
    )
    assert {"The sum is off", "Globex waits"} <= set(known.texts)
    assert "use tabs" not in known.texts
    assert known.names == ("Jo Miller",)


@pytest.mark.parametrize(
    ("thread", "tied", "key"),
    [
        (TICKET, (), "APP-7"),
        (SLACK, (TICKET,), "APP-7"),
        (ISSUE, (TICKET, ticket("APP-8")), "APP-7"),
        (SLACK, (ISSUE,), ""),
    ],
)
def test_the_key_is_that_of_the_first_ticket(
    thread: ThreadRef, tied: tuple[ThreadRef, ...], key: str
) -> None:
    assert find_ticket_key(asked_in(thread), linked(*tied)) == key


def test_who_asks_is_called_as_they_are_in_the_thread() -> None:
    by_id = asked_in(SLACK).replace(actor=JO.replace(login="U1"))
    assert with_name(by_id, CHAT).actor.login == "Jo Miller"
    stranger = by_id.actor.replace(external_id="U2")
    unknown = by_id.replace(actor=stranger)
    assert with_name(unknown, CHAT) == unknown


@pytest.mark.parametrize(
    ("thread", "handle", "label"),
    [
        (ISSUE, "@fixbot", "fix"),
        (TICKET, "@jirabot", "fix-it"),
        (SLACK, "@fixbot", "fix"),
    ],
)
def test_each_service_has_its_own_words_for_us(
    thread: ThreadRef, handle: str, label: str
) -> None:
    assert DIRECTORY.mention_in(thread) == handle
    assert DIRECTORY.label_in(thread) == label
