"""Private words reach a public place by consent alone."""

import pytest

from patchwright.core.channel import Offer
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import QuestionReason, service_outcome
from patchwright.resolver.messages.result import final_comment
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.visibility import (
    Consent,
    ConsentAnswer,
    Question,
    may_show_words,
    needs_consent,
    privacy_note,
    read_consent,
)
from tests.unit.resolver.endings import FRAME
from tests.unit.resolver.places import SLACK, issue, repo, ticket

WEB = repo("acme/web")
ISSUE = issue("acme/web", 7)


def test_c7_a_private_request_for_a_public_repository_is_asked_about() -> None:
    ask = needs_consent(SLACK, WEB, repository_is_private=False, remembered=None)
    assert ask == Question(
        reason=QuestionReason.NO_CONSENT,
        text="**`acme/web` is public. May the pull request quote this private "
        "thread?** Everybody can read a pull request there.\n\n"
        "- `share`: it may quote this thread, name its authors, and link to it.\n"
        "- `keep it out`: it describes the change, without names, addresses or "
        "quotations from this thread (eight words in a row, or three in a title or a "
        "file name). Single words and the subject of the change can still show.\n\n"
        "Reply `share` or `keep it out`. With `always`, your answer is valid for all "
        "requests from this channel to that repository. Nothing is shown there before "
        "you answer.",
        offers=(
            Offer(words="Share", command="share", is_in_text=True),
            Offer(words="Keep it out", command="keep it out", is_in_text=True),
            Offer(
                words="Always share in this channel",
                command="always share",
                is_in_text=True,
            ),
            Offer(
                words="Always keep out in this channel",
                command="always keep it out",
                is_in_text=True,
            ),
        ),
    )


def test_the_questions_of_the_service_tell_how_they_are_answered() -> None:
    for reason in QuestionReason:
        asked = service_outcome(OutcomeKind.NEEDS_INPUT, reason, "Which?", waits=True)
        told = final_comment(asked, DeliveryResult(), FRAME)
        assert "Reply here" not in told


def test_c7_a_ticket_is_called_one() -> None:
    ask = needs_consent(
        ticket("APP-7"), WEB, repository_is_private=False, remembered=None
    )
    assert ask is not None
    assert "quotations from this ticket" in ask.text
    assert "from this project" in ask.text


def test_c7_a_confidential_issue_of_a_public_project_is_asked_about() -> None:
    hidden = ISSUE.replace(audience="confidential")
    ask = needs_consent(hidden, WEB, repository_is_private=False, remembered=None)
    assert ask is not None
    assert "quote this private issue?" in ask.text
    assert "from this project" in ask.text
    for answered in Consent:
        assert not needs_consent(
            hidden, WEB, repository_is_private=False, remembered=answered
        )
    assert not needs_consent(hidden, WEB, repository_is_private=True, remembered=None)
    assert not needs_consent(ISSUE, WEB, repository_is_private=False, remembered=None)


def test_c7_what_is_offered_is_understood() -> None:
    ask = needs_consent(SLACK, WEB, repository_is_private=False, remembered=None)
    assert ask is not None
    assert [read_consent(offer.command) for offer in ask.offers] == [
        ConsentAnswer(consent=Consent.SHARE),
        ConsentAnswer(consent=Consent.KEEP_OUT),
        ConsentAnswer(consent=Consent.SHARE, always=True),
        ConsentAnswer(consent=Consent.KEEP_OUT, always=True),
    ]


@pytest.mark.parametrize("remembered", list(Consent))
def test_c7_nobody_is_asked_twice(remembered: Consent) -> None:
    assert not needs_consent(
        SLACK, WEB, repository_is_private=False, remembered=remembered
    )


def test_c7_nobody_is_asked_about_a_private_repository_or_a_public_thread() -> None:
    assert not needs_consent(SLACK, WEB, repository_is_private=True, remembered=None)
    assert not needs_consent(ISSUE, WEB, repository_is_private=False, remembered=None)


@pytest.mark.parametrize(
    "text", ["share", "Share it, please.", "yes, share", "`share`"]
)
def test_c7_words_that_share(text: str) -> None:
    assert read_consent(text) == ConsentAnswer(consent=Consent.SHARE)


@pytest.mark.parametrize(
    "text",
    [
        "keep it out",
        "Keep private!",
        "keep this private please",
        "private",
        "leave it out",
    ],
)
def test_c7_words_that_keep_it_out(text: str) -> None:
    assert read_consent(text) == ConsentAnswer(consent=Consent.KEEP_OUT)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes",
        "always",
        "keep",
        "public",
        "don't share",
        "share, or keep it out",
        "share the cart code between pages",
        "make the method private and fix the cart",
    ],
)
def test_c7_whatever_says_more_or_less_is_no_consent(text: str) -> None:
    assert read_consent(text) is None


def test_c7_the_agent_is_told_what_to_keep_out() -> None:
    assert "name no people, customers, channels or tickets" in privacy_note()


@pytest.mark.parametrize(
    ("source_is_private", "mirror_is_public", "consent", "may"),
    [
        (True, True, None, False),
        (True, True, Consent.KEEP_OUT, False),
        (True, True, Consent.SHARE, True),
        (True, False, Consent.KEEP_OUT, True),
        (False, True, None, True),
    ],
)
def test_c7_words_of_one_thread_in_another(
    *,
    source_is_private: bool,
    mirror_is_public: bool,
    consent: Consent | None,
    may: bool,
) -> None:
    shown = may_show_words(
        SLACK,
        ISSUE,
        source_is_private=source_is_private,
        mirror_is_public=mirror_is_public,
        consent=consent,
    )
    assert shown is may


def test_c7_a_thread_may_always_show_its_own_words() -> None:
    assert may_show_words(
        ISSUE, ISSUE, source_is_private=True, mirror_is_public=True, consent=None
    )
