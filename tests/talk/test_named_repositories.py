"""A private repository is read for whoever names it by their own account, not name."""

from pathlib import Path

import pytest

from tests.fakes.llm.turns import TurnLike, call
from tests.flow.office import Office, in_office
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import APP_ID, REPO, fix_turns

SECRET = "acme/secret"
WORDS = "we buy the company Initech in March for nine hundred million dollars"
QUOTING = call(
    "finish",
    title="Count every piece",
    summary=f"The total ignored the pieces: {WORDS}.",
    test_commands=["python3 -m unittest test_pieces"],
)


def a_secret_issue(office: Office) -> str:
    """Return the address of an issue that alice may read, and not everybody."""
    github = office.story.github
    github.add_repository(SECRET, private=True)
    github.install_app(APP_ID, "acme", [REPO, SECRET])
    github.grant(SECRET, "alice", "write")
    number = github.open_issue(SECRET, "alice", "Plans", WORDS)
    return f"{github.web_url}/{SECRET}/issues/{number}"


def asked_below(office: Office, who: str) -> str:
    """Let somebody name the issue, and jo, who is alice, ask below; return the body."""
    slack, story = office.slack, office.story
    thread = slack.fake.say(who, slack.channel, f"See {a_secret_issue(office)}")
    slack.ask(f"fix the total in {REPO}", thread=thread)
    story.work()
    slack.fake.press(slack.jo, slack.whisper(), "Share")
    story.work()
    [pull] = story.github.pull_requests(REPO)
    slack.answers(thread)
    slack.whispers()
    return pull.body


@pytest.mark.parametrize("name", ["alice", "jo", "Mallory"])
def test_h8_a_name_like_the_requesters_brings_nothing_private_in(
    tmp_path: Path, name: str
) -> None:
    def look(request: Request) -> TurnLike:
        assert "Initech" not in asked(request)
        return first

    first, *rest = fix_turns()
    with in_office(tmp_path, in_turn(look, *rest), private=False) as office:
        slack = office.slack
        mallory = slack.fake.scene.add_user(slack.team, "mallory", name)
        slack.fake.scene.join(slack.channel, mallory)
        asked_below(office, mallory)


def test_h8_what_the_requester_names_is_read_and_not_repeated_in_public(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        assert WORDS in asked(request)
        return first

    first, *rest = [*fix_turns()[:-1], QUOTING]
    with in_office(tmp_path, in_turn(look, *rest), private=False) as office:
        body = asked_below(office, office.slack.jo)
        assert "Initech" not in body
        assert "[…]" in body
