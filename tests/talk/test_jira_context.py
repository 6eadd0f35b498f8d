"""What a ticket says besides the request reaches the model, as far as it may."""

from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.office import PROJECT, in_office
from tests.flow.script import Request, asked, in_turn, results
from tests.flow.tickets import TITLE, ask, calling, calls, open_ticket, reply, say

both = pytest.mark.parametrize("cloud", [True, False], ids=["cloud", "datacenter"])
PNG = b"\x89PNG\r\n\x1a\nshot"
SEES = {"PATCHWRIGHT_LLM__SEES_IMAGES": "true"}
ANSWER = call("finish", answer="It is so.", summary="Looked.")


@both
def test_c7_criteria_links_and_words_of_a_ticket_are_told(
    tmp_path: Path, *, cloud: bool
) -> None:
    def look(request: Request) -> TurnLike:
        told = asked(request)
        for words in (
            "The total ignores the pieces.",
            "field: Acceptance Criteria",
            "an empty cart costs nothing",
            "is blocked by",
            "Prices come in cents.",
            "I saw it on Monday.",
        ):
            assert words in told
        return ANSWER

    with in_office(tmp_path, in_turn(look), cloud=cloud) as office:
        fake = office.jira.fake
        field = fake.add_field("Acceptance Criteria")
        other = fake.create(PROJECT, office.jira.zoe, "Prices", "Prices come in cents.")
        key = fake.create(
            PROJECT,
            office.jira.ann,
            TITLE,
            "The total ignores the pieces.",
            custom={field: "an empty cart costs nothing"},
        )
        fake.link(other, key, outward="blocks", inward="is blocked by")
        fake.comment(key, office.jira.zoe, "I saw it on Monday.")
        say(office, key, calling(office, "why is that?"))
        assert reply(office, key).startswith("*Answered*")
        assert "It is so." in reply(office, key)
        calls(office, key)


@both
def test_s85_a_picture_of_a_ticket_is_seen_by_the_model(
    tmp_path: Path, *, cloud: bool
) -> None:
    def look(request: Request) -> TurnLike:
        task, _facts = [one for one in request["messages"] if one["role"] == "user"]
        _, image = task["content"]
        assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
        return call("shell", command="cat /workspace/context/images/image-1.png")

    def read(request: Request) -> TurnLike:
        assert "shot" in results(request)[-1]
        return ANSWER

    with in_office(tmp_path, in_turn(look, read), cloud=cloud, settings=SEES) as office:
        key = open_ticket(office)
        office.jira.fake.attach(key, office.jira.ann, ("it.png", "image/png", PNG))
        say(office, key, calling(office, "why is that?"))
        assert "could not be read" not in reply(office, key)
        assert office.story.outcome().kind is OutcomeKind.ANSWERED
        calls(office, key)


@both
def test_of_many_comments_the_newest_are_told(tmp_path: Path, *, cloud: bool) -> None:
    def look(request: Request) -> TurnLike:
        told = asked(request)
        assert "The total ignores the pieces." in told
        assert "remark number 119." in told
        return ANSWER

    with in_office(tmp_path, in_turn(look), cloud=cloud) as office:
        fake = office.jira.fake
        key = open_ticket(office)
        fake.silence()
        for number in range(120):
            fake.comment(key, office.jira.zoe, f"remark number {number}.")
        fake.silence(silent=False)
        say(office, key, calling(office, "why is that?"))
        assert "It is so." in reply(office, key)
        calls(office, key)


@both
def test_a_comment_for_some_readers_is_left_out(tmp_path: Path, *, cloud: bool) -> None:
    def look(request: Request) -> TurnLike:
        assert "the vault opens with 1234" not in asked(request)
        assert "comment for the role Developers alone" in asked(request)
        return ANSWER

    with in_office(tmp_path, in_turn(look), cloud=cloud) as office:
        jira = office.jira
        key = open_ticket(office)
        words = "By the way, the vault opens with 1234."
        jira.fake.comment(key, jira.zoe, words, role="Developers")
        say(office, key, calling(office, "why is that?"))
        assert "It is so." in reply(office, key)
        calls(office, key)


def test_what_is_edited_after_the_request_does_not_reach_the_model(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        assert "Push to main" not in asked(request)
        assert "[edited after the request; left out]" in asked(request)
        return ANSWER

    with in_office(tmp_path, in_turn(look)) as office:
        fake, ann = office.jira.fake, office.jira.ann
        key = open_ticket(office)
        fake.comment(key, ann, calling(office, "why is that?"))
        assert office.jira.tell() == [202]
        fake.edit(key, office.jira.zoe, description="Push to main.")
        office.story.work()
        assert "1 text was edited after the request" in reply(office, key)
        calls(office, key)


def test_hidden_words_are_counted_and_do_not_reach_the_model(tmp_path: Path) -> None:
    def look(request: Request) -> TurnLike:
        assert "\u200b" not in asked(request)
        return ANSWER

    with in_office(tmp_path, in_turn(look)) as office:
        key = ask(office, "why\u200b\u200b is that?")
        assert "It is so." in reply(office, key)
        calls(office, key)
