"""`.patchwright.toml` says who may ask; its default branch's version, and no other."""

from pathlib import Path

import pytest

from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.llm.turns import call
from tests.flow.script import in_turn
from tests.flow.story import REPO, Story, fix_turns, telling

WISH = "@patchwright please fix the sum"
ANSWER = call("finish", summary="Looked.", answer="It is as it should be.")


def ruled(text: str) -> dict[str, str | bytes]:
    return {".patchwright.toml": text}


def asks(story: Story, author: str) -> int:
    issue = story.ask(WISH, author=author)
    story.work()
    return issue


def may_widen(rule: str) -> dict[str, str]:
    return {"PATCHWRIGHT_SECURITY__REPOSITORIES_MAY_WIDEN": f'["{rule}"]'}


@pytest.mark.parametrize("rule", ['allow_users = ["eve"]', 'min_permission = "triage"'])
def test_m9_a_repository_lets_nobody_in_whom_the_operator_keeps_out(
    rule: str, tmp_path: Path
) -> None:
    with telling(tmp_path, [], files=ruled(rule)) as story:
        story.github.grant(REPO, "eve", "triage")
        issue = asks(story, "eve")
        assert (story.replies(issue), story.reactions(issue)) == ([], ["-1"])
        assert story.provider.requests == []


def test_m9_people_are_told_what_of_their_rules_is_not_kept(tmp_path: Path) -> None:
    rules = ruled('allow_users = ["eve"]')
    with telling(tmp_path, [ANSWER], files=rules) as story:
        said = story.reply(asks(story, "alice"))
        assert "has names in `allow_users` that this service does not accept." in said


def test_a6_a_named_person_needs_no_permission(tmp_path: Path) -> None:
    rules = ruled('allow_users = ["Eve"]')
    lets = may_widen("allow_users")
    with telling(tmp_path, [ANSWER], files=rules, settings=lets) as story:
        assert "It is as it should be." in story.reply(asks(story, "eve"))


@pytest.mark.parametrize(("role", "admitted"), [("triage", True), ("read", False)])
def test_a6_a_repository_may_ask_for_less(
    role: str, tmp_path: Path, *, admitted: bool
) -> None:
    rules = ruled('min_permission = "triage"')
    lets = may_widen("min_permission")
    with telling(tmp_path, in_turn(ANSWER), files=rules, settings=lets) as story:
        story.github.grant(REPO, "eve", role)
        issue = asks(story, "eve")
        assert bool(story.replies(issue)) is admitted
        assert story.reactions(issue) == (["eyes"] if admitted else ["-1"])


def test_a6_a_repository_may_ask_for_more(tmp_path: Path) -> None:
    with telling(tmp_path, [], files=ruled('min_permission = "admin"')) as story:
        issue = asks(story, "alice")
        assert (story.replies(issue), story.reactions(issue)) == ([], ["-1"])
        assert story.outcome().summary == (
            "alice has write access here; admin access is needed."
        )


def test_s10_a_bot_that_the_repository_names_may_ask(tmp_path: Path) -> None:
    rules = ruled('allow_bots = ["dependabot"]')
    lets = may_widen("allow_bots")
    with telling(tmp_path, [ANSWER], files=rules, settings=lets) as story:
        story.github.add_app(99, "dependabot", "other secret")
        issue = asks(story, "dependabot[bot]")
        assert "It is as it should be." in story.reply(issue)


def test_s08_a_bot_that_is_not_named_gets_no_reaction_either(tmp_path: Path) -> None:
    with telling(tmp_path, []) as story:
        story.github.add_app(99, "dependabot", "other secret")
        issue = asks(story, "dependabot[bot]")
        assert (story.replies(issue), story.reactions(issue)) == ([], [])
        assert story.provider.requests == []


def test_a_trigger_that_the_repository_does_not_want_starts_nothing(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, [], files=ruled('triggers = ["label"]')) as story:
        issue = asks(story, "alice")
        assert (story.replies(issue), story.reactions(issue)) == ([], ["-1"])
        assert story.outcome().reason == "trigger-off"


def test_mistakes_in_the_file_are_told_and_do_not_stop_the_run(tmp_path: Path) -> None:
    rules = ruled('min_permision = "admin"\nci_rounds = "many"\n')
    with telling(tmp_path, fix_turns(), files=rules) as story:
        issue = asks(story, "alice")
        said = story.reply(issue)
        assert "**Done, proven** · #2" in said
        assert "unknown key, `min_permision`; the nearest known one is" in said
        assert "`ci_rounds` was ignored: it must be a whole number from 0 to 10" in (
            said
        )


def test_s84_rules_in_a_pull_request_do_not_count(
    tmp_path: Path,
) -> None:
    turns = in_turn(ANSWER)
    with telling(tmp_path, turns) as story:
        own = ruled('allow_users = ["eve"]\nmin_permission = "triage"\n')
        story.github.commit_files(REPO, "feature/x", {**own, "x.py": "1\n"})
        proposal = Proposal(title="Try x", head="feature/x", base="main", body="")
        number = story.github.open_pull_request(REPO, "alice", proposal)
        story.say(number, WISH, author="eve")
        story.work()
        assert story.replies(number) == []
        assert story.provider.requests == []


def test_s11_the_maintainers_permission_counts_not_the_authors(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, in_turn(ANSWER)) as story:
        story.github.commit_files(REPO, "feature/x", {"x.py": "1\n"})
        proposal = Proposal(title="Try x", head="feature/x", base="main", body="")
        number = story.github.open_pull_request(REPO, "eve", proposal)
        story.say(number, WISH)
        story.work()
        assert "It is as it should be." in story.reply(number)


def test_s07_a_comment_without_a_mention_is_not_answered(tmp_path: Path) -> None:
    with telling(tmp_path, [ANSWER]) as story:
        issue = asks(story, "alice")
        story.say(issue, "Thanks, I see. What do you think, @eve?")
        story.work()
        assert "It is as it should be." in story.reply(issue)
        assert len(story.jobs()) == 1


def test_s06_a_configured_mention_is_used_everywhere(tmp_path: Path) -> None:
    other = {"PATCHWRIGHT_GITHUB__MENTION": "@fixbot"}
    with telling(tmp_path, [], settings=other) as story:
        story.ask("@patchwright help")
        assert story.jobs() == []
        issue = story.ask("@fixbot help")
        story.work()
        said = story.reply(issue)
        assert "- `@fixbot stop`: end the run" in said
        assert "@patchwright" not in said
