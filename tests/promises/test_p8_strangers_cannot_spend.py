"""Only those start a run who may: not strangers, not unnamed bots, never the bot."""

from pathlib import Path

from tests.flow.story import BOT, REPO, Story, fix_turns, telling
from tests.flow.text import steady

WISH = "@patchwright please fix the sum"


def test_s09_a_strangers_mention_costs_nothing_and_changes_nothing(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH, author="eve")
        story.work()
        assert story.reactions(issue) == ["-1"]
        _assert_nothing_was_done(story, issue)


def test_s09_a_strangers_comment_gets_a_reaction_alone(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.github.open_issue(REPO, "alice", "Wrong sum", "It is wrong.")
        comment = story.say(issue, WISH, author="eve")
        story.work()
        assert story.reactions(issue, comment) == ["-1"]
        _assert_nothing_was_done(story, issue)


def test_s09_if_the_permission_is_unknown_nothing_starts(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        story.github.fail_next("GET", "/collaborators/", 503, times=20)
        issue = story.ask(WISH)
        story.work()
        assert steady(story.reply(issue)) == (
            "**Declined**\n\n"
            "The permission of @alice in this repository could not be read, so nothing "
            "was started. Ask again later.\n\n"
            "<sub>run RUN · requested by alice · thread read at TIME · model "
            "openai/scripted</sub>\n\n"
            "<!-- patchwright:state=refused run=RUN -->"
        )
        assert story.provider.requests == []
        assert story.branches() == []


def test_s08_the_bots_own_texts_start_nothing(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask("@patchwright help")
        story.work()
        [help_text] = story.replies(issue)
        assert "@patchwright" in help_text
        own = story.github.delivery("issue_comment", "created")
        assert story.deliver(own).status == 200
        story.github.comment(REPO, issue, BOT, "Ask with @patchwright retry this")
        story.tell()
        story.work()
        assert len(story.replies(issue)) == 2
        assert len(story.jobs()) == 1
        assert story.provider.requests == []


def test_s08_the_bots_help_quoted_by_a_person_starts_nothing(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask("@patchwright help")
        story.work()
        story.say(issue, story.reply(issue))
        story.work()
        assert len(story.jobs()) == 1


def test_s10_a_bot_may_ask_only_if_it_is_named(tmp_path: Path) -> None:
    with telling(tmp_path / "unnamed", fix_turns()) as story:
        story.github.add_user("dependabot[bot]", bot=True)
        issue = story.ask(WISH, author="dependabot[bot]")
        story.work()
        _assert_nothing_was_done(story, issue)

    named = {"PATCHWRIGHT_SECURITY__ALLOW_BOTS": '["dependabot"]'}
    with telling(tmp_path / "named", fix_turns(), settings=named) as story:
        story.github.add_user("dependabot[bot]", bot=True)
        issue = story.ask(WISH, author="dependabot[bot]")
        story.work()
        assert "**Done, proven** · #2" in story.reply(issue)


def _assert_nothing_was_done(story: Story, issue: int) -> None:
    assert story.replies(issue) == []
    assert story.provider.requests == []
    assert story.branches() == []
    assert story.github.pull_requests(REPO) == []


def test_a_request_that_joined_a_strangers_gets_a_run_of_its_own(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask("@patchwright please fix the sum", author="eve")
        story.say(issue, "Yes, @patchwright please do")
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert not pull.draft
        assert "**Done, proven**" in story.reply(issue)
