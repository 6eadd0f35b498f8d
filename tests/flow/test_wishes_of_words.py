"""A repository says whose words are read, and what is said of a run."""

from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.services import RunOverrides
from tests.fakes.github.bare import git
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import NEW_TEST, REPO, fix_turns, telling

WISH = "@patchwright please fix the sum"
ANSWER = call("finish", answer="It is so.", summary="Looked.")


def wishing(text: str) -> dict[str, str | bytes]:
    return {".patchwright.toml": text}


@pytest.mark.parametrize(
    ("rule", "heard", "silent"),
    [
        ("", ["from alice", "from bob"], ["from eve", "from mia"]),
        ("write", ["from alice", "from bob"], ["from eve", "from mia"]),
        ("association", ["from alice", "from bob", "from mia"], ["from eve"]),
        ("all-marked", ["from alice", "from bob", "from eve", "from mia"], []),
    ],
)
def test_whose_comments_are_read_is_a_wish(
    tmp_path: Path, rule: str, heard: list[str], silent: list[str]
) -> None:
    def look(request: Request) -> TurnLike:
        prompt = asked(request)
        assert [one for one in heard if one not in prompt] == []
        assert [one for one in silent if one in prompt] == []
        assert "It is 450." in prompt
        return ANSWER

    rules = f'context_from = "{rule}"\n' if rule else ""
    with telling(tmp_path, in_turn(look), files=wishing(rules)) as story:
        story.github.add_user("bob")
        story.github.add_user("mia")
        story.github.grant(REPO, "bob", "write")
        story.github.grant(REPO, "mia", "read")
        issue = story.github.open_issue(REPO, "eve", "Wrong sum", "It is 450.")
        for who in ("alice", "bob", "eve", "mia"):
            story.github.comment(REPO, issue, who, f"A word from {who}")
        story.say(issue, "@patchwright why is that?")
        story.work()
        reply = story.reply(issue)
        left_out = f"{len(silent)} comment"
        assert (left_out in reply) is bool(silent)


def test_named_files_are_the_instructions(tmp_path: Path) -> None:
    def look(request: Request) -> TurnLike:
        assert "Count in pence." in asked(request)
        assert "Count in pounds." not in asked(request)
        return ANSWER

    files = {
        **wishing('instructions = ["docs/bots.md", "gone.md"]\n'),
        "AGENTS.md": "Count in pounds.",
        "docs/bots.md": "Count in pence.",
    }
    with telling(tmp_path, in_turn(look), files=files) as story:
        issue = story.ask("@patchwright why is that?")
        story.work()
        assert story.outcome().kind is OutcomeKind.ANSWERED
        story.reply(issue)


@pytest.mark.parametrize(("wish", "named"), [("requester", 1), ("none", 0)])
def test_who_asked_is_a_co_author_or_not(tmp_path: Path, wish: str, named: int) -> None:
    rules = wishing(f'co_author = "{wish}"\n')
    with telling(tmp_path, fix_turns(), files=rules) as story:
        issue = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        folder = story.github.git_folder(REPO)
        message = git(folder, "show", "--no-patch", "--format=%B", pull.head_sha)
        assert message.count(b"Co-authored-by: alice") == named
        story.reply(issue)


def test_without_a_progress_comment_there_is_one_message_at_the_end(
    tmp_path: Path,
) -> None:
    def look(_request: Request) -> TurnLike:
        seen.append(story.replies(1))
        return ANSWER

    seen: list[list[str]] = []
    rules = wishing("progress_comment = false\n")
    with telling(tmp_path, in_turn(look), files=rules) as story:
        issue = story.ask("@patchwright why is that?")
        story.work()
        assert seen == [[]]
        assert "**Answered**" in story.reply(issue)
        assert story.pings(issue) == []


def test_another_file_can_be_the_repositorys_own(tmp_path: Path) -> None:
    files = {"ci/bot.toml": 'deliver = "draft"\nprotected_paths = ["a"]\nlabel = "x"\n'}
    turns = [
        call("write", path="ci/bot.toml", content="a = 1\n"),
        call("write", path="test_pieces.py", content=NEW_TEST),
        call("finish", title="t", summary="s"),
    ]
    overrides = RunOverrides(config_file="ci/bot.toml")
    with telling(tmp_path, turns, files=files, overrides=overrides) as story:
        issue = story.ask(WISH)
        story.work()
        assert story.outcome().reason == "protected-paths"
        reply = story.reply(issue)
        assert "that `protected_paths` in `ci/bot.toml` protects, so" in reply
        assert "`ci/bot.toml` has an unknown key, `label`" in reply


def test_what_was_hidden_is_counted(tmp_path: Path) -> None:
    def look(_request: Request) -> TurnLike:
        story.say(1, "@patchwright also this <!-- psst -->")
        return call("shell", command="true")

    files = {"AGENTS.md": "Be kind.<!-- psst -->"}
    with telling(tmp_path, in_turn(look, ANSWER), files=files) as story:
        issue = story.ask("@patchwright why is that? <!-- psst --> <!-- psst -->")
        story.work()
        assert story.outcome().removed == 4
        story.replies(issue)
