"""What an issue of Linear says is shown in public only if somebody agrees."""

from pathlib import Path

from patchwright.resolver.job import JobState
from tests.fakes.github.bare import git
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.linear import TITLE, LinearOffice, in_linear
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, fix_turns
from tests.flow.text import steady

SECRET = "Our customer Hooli pays twice for every third piece in the cart."
QUIET = "Pied Piper has never paid a single invoice of ours on time."
QUESTION = """\
**Needs you** · [run](GITHUB/runs/RUN)

**`acme/shop` is public. May the pull request quote this private ticket?** Everybody \
can read a pull request there.

- `share`: it may quote this ticket, name its authors, and link to it.
- `keep it out`: it describes the change, without names, addresses or quotations from \
this ticket (eight words in a row, or three in a title or a file name). Single words \
and the subject of the change can still show.

Reply `share` or `keep it out`. With `always`, your answer is valid for all requests \
from this project to that repository. Nothing is shown there before you answer.

run RUN · requested by Ann Lee · in acme/shop · thread read at TIME · \
model openai/scripted"""


def quoting() -> list[TurnLike]:
    """Return the usual fix, by a model that repeats what it has read."""
    *work, _ = fix_turns()
    end = call(
        "finish",
        title=f"{TITLE}, as Ann Lee says in ENG-1",
        summary=f"As Ann Lee says in ENG-1: {SECRET} And {QUIET}",
        test_commands=["python3 -m unittest test_pieces"],
    )
    return [*work, end]


def public(linear: LinearOffice) -> str:
    """Return everything that anybody can read beside the code, its history included."""
    story = linear.story
    pulls = [repr(one) for one in story.github.pull_requests(REPO)]
    folder = story.github.git_folder(REPO)
    history = git(folder, "log", "--all", "-p", "--format=fuller").decode()
    return "\n".join([*pulls, *story.branches(), history])


def test_nothing_is_shown_in_public_before_somebody_agrees(tmp_path: Path) -> None:
    def see(request: Request) -> TurnLike:
        assert SECRET in asked(request)
        assert "Nothing that you write there may show" in asked(request)
        return first

    first, *rest = quoting()
    with in_linear(tmp_path, in_turn(see, *rest), private=False) as linear:
        before = public(linear)
        key = linear.open(SECRET)
        linear.fake.comment(key, linear.zoe, QUIET)
        linear.fake.comment(key, linear.ann, linear.call())
        linear.work()
        [(kind, text)] = linear.said(key)
        assert (kind, steady(text)) == ("elicitation", QUESTION)
        options = (linear.activities(key)[0].signal_metadata or {})["options"]
        assert options == [
            {"label": "Share", "value": "share"},
            {"label": "Keep it out", "value": "keep it out"},
            {"label": "Always share in this project", "value": "always share"},
            {
                "label": "Always keep out in this project",
                "value": "always keep it out",
            },
        ]
        assert linear.story.jobs()[0].state is JobState.WAITING_USER
        linear.fake.prompt(key, linear.zoe, "share")
        linear.work()
        assert linear.story.provider.requests == []
        assert public(linear) == before
        linear.fake.choose(key, linear.ann, "keep it out")
        linear.work()
        kind, text = linear.said(key)[-1]
        assert kind == "response"
        assert text.startswith("**Done, proven** · [pull request #1](")
        assert "Hooli" in text
        shown = public(linear)
        page = linear.fake.page(key)
        for words in ("Hooli", "Pied Piper", "Ann Lee", key, page):
            assert words not in shown


def test_what_may_be_shared_is_named_and_linked(tmp_path: Path) -> None:
    with in_linear(tmp_path, in_turn(*quoting()), private=False) as linear:
        key = linear.open(SECRET)
        linear.fake.comment(key, linear.ann, linear.call())
        linear.work()
        linear.fake.choose(key, linear.ann, "share")
        linear.work()
        [pull] = linear.story.github.pull_requests(REPO)
        assert SECRET in pull.body
        assert f"[{key}]({linear.fake.page(key)})" in pull.body
        assert linear.said(key)[-1][1].startswith("**Done, proven**")


def test_what_always_holds_in_a_team_is_not_asked_again(tmp_path: Path) -> None:
    turns = in_turn(*fix_turns(), *["Cents, or euros?"] * 3)
    with in_linear(tmp_path, turns, private=False) as linear:
        first = linear.ask()
        linear.fake.choose(first, linear.ann, "always share")
        linear.work()
        assert linear.said(first)[-1][1].startswith("**Done, proven**")
        second = linear.ask()
        [(kind, text)] = linear.said(second)
        assert kind == "elicitation"
        assert "Cents, or euros?" in text
        assert "is public" not in text


def test_what_is_said_while_it_works_is_kept_out_as_well(tmp_path: Path) -> None:
    def add(_request: Request) -> TurnLike:
        linear.fake.prompt(key, linear.ann, f"and mind this: {SECRET}")
        linear.tell()
        return first

    first, *rest = quoting()
    with in_linear(tmp_path, in_turn(add, *rest), private=False) as linear:
        key = linear.ask()
        linear.fake.choose(key, linear.ann, "keep it out")
        linear.work()
        assert "Hooli" not in public(linear)
        assert linear.said(key)[-1][1].startswith("**Done, proven**")


def test_of_a_private_team_that_we_may_not_see_nothing_is_said(tmp_path: Path) -> None:
    """An issue beside the one that asks may be of a team that few people see."""

    def look(request: Request) -> TurnLike:
        assert "OPS-1" in asked(request)
        assert "Hooli" not in asked(request)
        return call("finish", summary="Looked.", answer="Nothing is to be done.")

    with in_linear(tmp_path, in_turn(look)) as linear:
        linear.fake.add_team("OPS", members=[linear.zoe])
        linear.fake.admit("OPS")
        other = linear.fake.create("OPS", linear.zoe, "Hooli pays twice", SECRET)
        key = linear.open()
        linear.fake.relate(key, other)
        linear.fake.comment(key, linear.ann, linear.call())
        linear.work()
        assert "Hooli" not in linear.said(key)[-1][1]
