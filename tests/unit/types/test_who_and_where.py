"""Threads are found again by their keys, and people by their ids."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    TalkThread,
    ThreadKind,
    ThreadRef,
    read_thread,
)
from patchwright.core.types.triggers import Trigger, TriggerKind

REPO = RepoRef(forge="github", full_name="acme/shop")
ISSUE = ForgeThread(repo=REPO, kind=ThreadKind.ISSUE, number=7)
MERGE_REQUEST = ForgeThread(
    repo=RepoRef(forge="gitlab", full_name="acme/web/shop"),
    kind=ThreadKind.MERGE_REQUEST,
    number=7,
)
CHAT = TalkThread(
    service="slack", place="T1/C1", kind=ThreadKind.CHAT, id="1712345678.123456"
)
NOT_STARTED = CHAT.replace(id="cmd-13.37")
TICKET = TalkThread(
    service="jira",
    place="acme.example:8443/jira/APP",
    kind=ThreadKind.TICKET,
    id="APP-7",
)
JO = Actor(service="slack", login="jo", external_id="U1", host="T1")
ALICE = Actor(service="github", login="alice")


@pytest.mark.parametrize(
    ("thread", "key", "name", "token", "service"),
    [
        (ISSUE, "github:acme/shop#7", "#7", "7", "github"),
        (MERGE_REQUEST, "gitlab:acme/web/shop!7", "!7", "mr7", "gitlab"),
        (
            CHAT,
            "slack:T1/C1#1712345678.123456",
            "the thread",
            "1712345678-123456",
            "slack",
        ),
        (NOT_STARTED, "slack:T1/C1#cmd-13.37", "the thread", "cmd-13-37", "slack"),
        (TICKET, "jira:acme.example:8443/jira/APP#APP-7", "APP-7", "APP-7", "jira"),
    ],
)
def test_a_thread_is_known_by_its_key(
    thread: ThreadRef, key: str, name: str, token: str, service: str
) -> None:
    assert str(thread) == key
    assert (thread.name, thread.token, thread.service) == (name, token, service)
    assert read_thread(key, thread.kind) == thread


WORD = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1)
PLACES = st.builds("{}/{}".format, WORD, WORD)
FORGE_KINDS = st.sampled_from(
    [ThreadKind.ISSUE, ThreadKind.PULL_REQUEST, ThreadKind.DISCUSSION]
)
THREADS = st.one_of(
    st.builds(
        ForgeThread,
        repo=st.builds(RepoRef, forge=WORD, full_name=PLACES),
        kind=FORGE_KINDS,
        number=st.integers(min_value=1),
    ),
    st.builds(
        TalkThread,
        service=WORD,
        place=PLACES,
        kind=st.sampled_from([ThreadKind.CHAT, ThreadKind.TICKET]),
        id=WORD,
    ),
)


@given(THREADS)
def test_every_key_leads_back(thread: ThreadRef) -> None:
    assert read_thread(str(thread), thread.kind) == thread


def asked_in(thread: ThreadRef, **found: Any) -> Trigger:
    trigger = Trigger(
        key="k",
        kind=TriggerKind.COMMENT_MENTION,
        actor=JO,
        thread=thread,
        request="fix it",
    )
    return trigger.replace(**found)


def test_beside_the_code_the_repository_is_known() -> None:
    trigger = asked_in(ISSUE)
    assert trigger.home == trigger.place == REPO
    assert trigger.forge_thread == ISSUE


def test_elsewhere_it_is_known_once_it_was_chosen() -> None:
    trigger = asked_in(CHAT)
    assert trigger.place is None
    with pytest.raises(LookupError, match="no repository was chosen for slack:T1/C1"):
        _ = trigger.home
    assert asked_in(CHAT, repo=REPO).home == REPO


def test_what_is_not_beside_the_code_is_no_thread_of_it() -> None:
    with pytest.raises(LookupError, match="APP#APP-7 is not beside the code"):
        _ = asked_in(TICKET, repo=REPO).forge_thread


def test_the_asker_is_who_they_are_where_the_code_is() -> None:
    assert asked_in(CHAT).asker == JO
    assert asked_in(CHAT, person=ALICE).asker == ALICE


@pytest.mark.parametrize(
    ("other", "is_one"),
    [
        (JO.replace(login="Jo Miller"), True),
        (JO.replace(external_id="U2"), False),
        (JO.replace(host="T2"), False),
        (JO.replace(service="jira"), False),
        (JO.replace(external_id=""), False),
    ],
)
def test_names_change_and_ids_do_not(other: Actor, *, is_one: bool) -> None:
    assert JO.is_same(other) is is_one


def test_without_an_id_the_name_counts() -> None:
    nameless = [Actor(service="jira", login=name) for name in ("Ann", "ann", "Bob")]
    ann, again, bob = nameless
    assert ann.is_same(again)
    assert not ann.is_same(bob)
