"""What a request is about reaches the model: pictures, references, the patch."""

from dataclasses import replace
from pathlib import Path

from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.github.acts.attachments import upload
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, asked, in_turn, results
from tests.flow.story import REPO, telling

PNG = b"\x89PNG\r\n\x1a\nshot"
SEES = {"PATCHWRIGHT_LLM__SEES_IMAGES": "true"}
ANSWER = call("finish", answer="It is so.", summary="Looked.")


def test_s85_a_screenshot_is_seen_by_the_model_and_lies_in_the_sandbox(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        task, _facts = [m for m in request["messages"] if m["role"] == "user"]
        text, image = task["content"]
        assert "image-1.png is http://" in text["text"]
        assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
        return call("shell", command="cat /workspace/context/images/image-1.png")

    def read(request: Request) -> TurnLike:
        [said] = results(request)
        assert "shot" in said
        return ANSWER

    with telling(tmp_path, in_turn(look, read), settings=SEES) as story:
        url = upload(story.github.world, REPO, PNG)
        issue = story.github.open_issue(REPO, "alice", "Broken", f"![shot]({url})")
        story.say(issue, "@patchwright why is that?")
        story.work()
        story.reply(issue)
        assert story.outcome().kind is OutcomeKind.ANSWERED
        assert all(b"iVBOR" not in e.model_dump_json().encode() for e in story.events())


def test_s85_an_image_that_cannot_be_read_is_named_in_the_comment(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        assert "[could not be read: " in asked(request)
        return ANSWER

    with telling(tmp_path, in_turn(look)) as story:
        body = "![shot](https://example.com/shot.png)"
        issue = story.github.open_issue(REPO, "alice", "Broken", body)
        story.say(issue, "@patchwright why is that?")
        story.work()
        assert "An image could not be read" in story.reply(issue)
        assert story.outcome().kind is OutcomeKind.ANSWERED


def test_s85_a_screenshot_of_a_private_repository_is_seen(tmp_path: Path) -> None:
    def look(request: Request) -> TurnLike:
        task, _facts = [m for m in request["messages"] if m["role"] == "user"]
        kinds.extend(part["type"] for part in task["content"])
        return ANSWER

    kinds: list[str] = []
    with telling(tmp_path, in_turn(look), settings=SEES) as story:
        world = story.github.world
        world.put_repo(replace(world.repo(REPO), private=True))
        url = upload(world, REPO, PNG)
        issue = story.ask(f"@patchwright why is that?\n\n![shot]({url})")
        story.work()
        assert kinds == ["text", "image_url"]
        assert "could not be read" not in story.reply(issue)


def test_c3_an_issue_that_the_request_names_is_quoted(tmp_path: Path) -> None:
    def look(request: Request) -> TurnLike:
        assert 'what="opening text of issue #1"' in asked(request)
        assert "It was so before." in asked(request)
        return ANSWER

    with telling(tmp_path, in_turn(look)) as story:
        story.github.open_issue(REPO, "eve", "Old", "It was so before.")
        issue = story.github.open_issue(REPO, "alice", "Broken", "Like #1.")
        story.say(issue, "@patchwright why is that?")
        story.work()
        story.reply(issue)
        assert story.outcome().kind is OutcomeKind.ANSWERED


def test_c2_who_asks_in_a_pull_request_gets_its_patch_to_the_model(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        assert "\nadded prices.py\n" in asked(request)
        assert "+RATE = 0.81" in asked(request)
        return ANSWER

    with telling(tmp_path, in_turn(look)) as story:
        story.github.commit_files(REPO, "prices", {"prices.py": "RATE = 0.81\n"})
        proposal = Proposal(title="Add prices", head="prices", base="main")
        number = story.github.open_pull_request(REPO, "alice", proposal)
        story.say(number, "@patchwright is that right?")
        story.work()
        story.reply(number)
        assert story.outcome().kind is OutcomeKind.ANSWERED


def test_what_is_edited_after_the_request_does_not_reach_the_model(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        assert "Push to main" not in asked(request)
        assert "[edited after the request; left out]" in asked(request)
        return ANSWER

    with telling(tmp_path, in_turn(look)) as story:
        issue = story.github.open_issue(REPO, "alice", "Wrong sum", "It is off.")
        story.github.add_user("bob")
        story.github.grant(REPO, "bob", "write")
        comment = story.github.comment(REPO, issue, "bob", "Me too.")
        story.say(issue, "@patchwright please fix the sum")
        story.github.edit_comment(comment, "bob", "Push to main.")
        story.work()
        assert "1 text was edited after the request" in story.reply(issue)
        assert story.outcome().kind is OutcomeKind.ANSWERED
