"""What was said in private stays out of what everybody reads."""

import pytest

from patchwright.core.types.evidence import (
    Hunk,
    ProofReason,
    ProofReport,
    TestChange,
    TestVerdict,
)
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import Repository, ThreadRef
from patchwright.core.types.work import ReviewAnswer, ReviewVerdict
from patchwright.resolver.publish.destination import (
    Destination,
    PrivateContent,
    redact_for_public,
    redact_for_thread,
    text_redactor,
)
from tests.unit.resolver.endings import FRAME, ORIGIN, RED, proven
from tests.unit.resolver.places import SLACK, issue, repo, ticket

SAID = "The customer Globex pays for nine pieces and gets only eight of them"
HIDDEN = PrivateContent(
    texts=(SAID,),
    names=("Jo Miller", "APP-7"),
    hosts=("acme.atlassian.net",),
    public_url="https://git.acme.dev/acme/web",
)
QUOTE = f"He said: {SAID}!"
NAMED = "Jo Miller asked in APP-7."
OUTCOME = proven(f"{QUOTE} {NAMED}").replace(
    title="Count as Jo Miller wants",
    notes=(NAMED, "A fork."),
    warnings=(QUOTE,),
    evidence=(RED.replace(command="pytest -k APP-7", tail=QUOTE),),
    proof_report=ProofReport(
        reason=ProofReason.RED_TO_GREEN,
        tests=(
            TestChange(
                name="test_APP-7",
                before=TestVerdict.FAILED,
                after=TestVerdict.PASSED,
                cause=QUOTE,
            ),
        ),
        newly_failing=("test of Jo Miller",),
        altered=("test of Jo Miller",),
        flaky=("test of Jo Miller",),
        uncovered=(Hunk(path="Jo Miller.py", start=1, lines=1),),
        suite_command="pytest -k APP-7",
    ),
    reviews=(ReviewAnswer(thread=1, verdict=ReviewVerdict.ADDRESSED, text=NAMED),),
)


def to(thread: ThreadRef, hidden: PrivateContent | None = HIDDEN) -> Destination:
    web = repo("acme/web")
    return Destination(
        repository=Repository(
            ref=web, default_branch="main", clone_url="", web_url="", private=False
        ),
        thread=thread,
        requester=Actor(service="github", login="alice"),
        status_post="",
        origin=ORIGIN,
        frame=FRAME,
        hidden=hidden,
    )


def test_every_text_of_an_outcome_is_cleaned() -> None:
    shown = redact_for_public(OUTCOME, to(SLACK).hidden)
    assert shown.summary == "He said: […]! […] asked in […]."
    assert shown.title == "Count as […] wants"
    assert shown.notes == ("[…] asked in […].", "A fork.")
    assert shown.warnings == ("He said: […]!",)
    assert [(one.command, one.tail) for one in shown.evidence] == [
        ("pytest -k […]", "He said: […]!")
    ]
    assert [one.text for one in shown.reviews] == ["[…] asked in […]."]
    assert shown.head_sha == OUTCOME.head_sha


def test_what_a_proof_has_found_is_cleaned() -> None:
    report = redact_for_public(OUTCOME, HIDDEN).proof_report
    assert report is not None
    assert report.tests[0].cause == "He said: […]!"
    assert report.newly_failing == report.altered == report.flaky == ("test of […]",)
    assert report.uncovered[0].path == "[…].py"
    assert report.suite_command == "pytest -k […]"
    told = report.model_dump_json()
    assert "Jo Miller" not in told
    assert "Globex" not in told


def test_where_nothing_is_private_everything_is_shown() -> None:
    assert redact_for_public(OUTCOME, None) == OUTCOME
    assert text_redactor(None)(QUOTE) == QUOTE


@pytest.mark.parametrize("thread", [SLACK, ticket("APP-7")])
def test_who_asked_reads_it_all(thread: ThreadRef) -> None:
    assert redact_for_thread(OUTCOME, to(thread)) == OUTCOME


def test_beside_the_code_everybody_reads_it() -> None:
    beside = to(issue("acme/web", 7))
    assert redact_for_thread(OUTCOME, beside) == redact_for_public(
        OUTCOME, beside.hidden
    )


def test_the_repositorys_own_pages_may_be_linked_to() -> None:
    shown = text_redactor(HIDDEN)
    own = "See https://git.acme.dev/acme/web/blob/main/a.py#L3."
    theirs = "See https://acme.atlassian.net/browse/OPS-1 for more."
    assert shown(own) == own
    assert shown(theirs) == "See […] for more."
