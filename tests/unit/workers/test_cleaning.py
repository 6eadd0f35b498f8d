"""What people paste is taken out of every text of a thread before it is used."""

from datetime import UTC, datetime

import pytest

from patchwright.core.text.redaction import Redactor
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import LinkedIssue, ReviewThread, Thread, ThreadPost
from patchwright.resolver.run_store import clean_thread
from tests.unit.resolver.places import ticket

PASTED = "ghp_" + "Ab1" * 12
WORDS = f"It fails with {PASTED} here"
JO = Actor(service="jira", login="Jo Miller", external_id="1")
POST = ThreadPost(id="1", author=JO, text=WORDS, at=datetime(2030, 1, 1, tzinfo=UTC))
PLAIN = Thread(ref=ticket("APP-7"), title="Wrong sum", url="", posts=())
TOLD = LinkedIssue(name="APP-1", relation="epic", title=WORDS, text=WORDS, author=JO)
THREADS = {
    "title": Thread(ref=PLAIN.ref, title=WORDS, url="", posts=()),
    "post": Thread(ref=PLAIN.ref, title="", url="", posts=(POST,)),
    "review": Thread(
        ref=PLAIN.ref,
        title="",
        url="",
        posts=(),
        reviews=(ReviewThread(path="a.py", line=1, hunk=WORDS, posts=(POST,)),),
    ),
    "relative": Thread(
        ref=PLAIN.ref, title="", url="", posts=(), linked_issues=(TOLD,)
    ),
}


@pytest.mark.parametrize("part", THREADS)
def test_m8_a_secret_that_was_pasted_is_in_no_part_of_a_thread(part: str) -> None:
    clean = clean_thread(Redactor([]).redact_json, THREADS[part])
    kept = clean.model_dump_json()
    assert PASTED not in kept
    assert "It fails with" in kept


def test_m8_whoever_wrote_a_linked_ticket_and_its_name_stay() -> None:
    [told] = clean_thread(Redactor([]).redact_json, THREADS["relative"]).linked_issues
    assert (told.name, told.relation, told.author) == ("APP-1", "epic", JO)


def test_m8_a_thread_without_secrets_stays_as_it_is() -> None:
    assert clean_thread(Redactor([]).redact_json, PLAIN) == PLAIN
