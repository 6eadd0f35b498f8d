"""A mention or a label becomes a pull request."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.github.bare import git
from tests.flow.story import BOT, REPO, Story, fix_turns, telling
from tests.flow.text import steady

WISH = "@patchwright please fix the sum, 3 pieces cost 450"

PULL_REQUEST = """\
<!-- patchwright:body text=DIGEST title=DIGEST -->

🟢 **Proven**: in fresh sandboxes, the test fails without the change and passes with \
it, and no test that passed before fails now.

The agent wrote:

> The total ignored the pieces.

Closes #1

### Evidence

| test | without the change | with it | why it failed without |
|---|---|---|---|
| `test_pieces.PiecesTest.test_every_piece_counts` | 🔴 failed | 🟢 passed | \
`AssertionError: 450 != 1350` |

Each part that was tried is needed: the tests fail without it (1 of 1 changed part \
removed in turn).

The repository's own tests, `python3 -m unittest test_cart.py`: 1 test compared.

<details><summary>4 commands, run by the controller in fresh sandboxes</summary>

| | command | commit | result | time |
|---|---|---|---|---|
| without the change | `python3 -m unittest test_pieces` | `COMMIT` | 🔴 exit 1 | N s |
| with it | `python3 -m unittest test_pieces` | `COMMIT` | 🟢 exit 0 | N s |
| own tests, without it | `python3 -m unittest test_cart.py` | `COMMIT` | 🟢 exit 0 | \
N s |
| own tests, with it | `python3 -m unittest test_cart.py` | `COMMIT` | 🟢 exit 0 | N s |

</details>

<sub>Base [`COMMIT`](GITHUB/acme/shop/commit/SHA), head \
[`COMMIT`](GITHUB/acme/shop/commit/SHA). Run by the controller in fresh sandboxes, not \
by the agent. “Without the change” is the base commit with only the test files of this \
change.</sub>

**2 files** changed: 9 lines added, 1 removed.

<sub>run RUN · requested by @alice · model openai/scripted · 4 steps · Ns · 480 \
tokens, price unknown</sub>

<!-- patchwright:end -->"""

STATUS = """\
**Done, proven** · #2 · 4 steps · Ns · 480 tokens, price unknown · 2 files, +9 -1

🟢 **Proven**: in fresh sandboxes, the test fails without the change and passes with \
it, and no test that passed before fails now.

The agent wrote:

> The total ignored the pieces.

<details><summary>Evidence: 4 commands, run by the controller in fresh sandboxes\
</summary>

| test | without the change | with it | why it failed without |
|---|---|---|---|
| `test_pieces.PiecesTest.test_every_piece_counts` | 🔴 failed | 🟢 passed | \
`AssertionError: 450 != 1350` |

Each part that was tried is needed: the tests fail without it (1 of 1 changed part \
removed in turn).

The repository's own tests, `python3 -m unittest test_cart.py`: 1 test compared.

| | command | commit | result | time |
|---|---|---|---|---|
| without the change | `python3 -m unittest test_pieces` | `COMMIT` | 🔴 exit 1 | N s |
| with it | `python3 -m unittest test_pieces` | `COMMIT` | 🟢 exit 0 | N s |
| own tests, without it | `python3 -m unittest test_cart.py` | `COMMIT` | 🟢 exit 0 | \
N s |
| own tests, with it | `python3 -m unittest test_cart.py` | `COMMIT` | 🟢 exit 0 | N s |

</details>

<sub>run RUN · requested by alice · thread read at TIME · model openai/scripted</sub>

<!-- patchwright:state=resolved run=RUN -->"""

COMMIT = """\
Count every piece

The agent wrote:

> The total ignored the pieces.

Co-authored-by: alice <{id}+alice@users.noreply.127.0.0.1>
"""


@pytest.fixture(params=["local", "docker"])
def sandbox(request: pytest.FixtureRequest) -> dict[str, str]:
    """Return the settings of each kind of sandbox."""
    kind = {"PATCHWRIGHT_SANDBOX__KIND": request.param}
    if request.param == "local":
        return kind
    image = request.getfixturevalue("sandbox_image")
    return {**kind, "PATCHWRIGHT_SANDBOX__IMAGE": image}


def test_s33_a_mention_becomes_a_proven_pull_request(
    tmp_path: Path, sandbox: dict[str, str]
) -> None:
    with telling(
        tmp_path, fix_turns(), settings=sandbox, default_branch="trunk"
    ) as story:
        issue = story.ask(WISH)
        story.work()

        [pull] = story.github.pull_requests(REPO)
        assert steady(pull.body) == PULL_REQUEST
        assert (pull.title, pull.author) == ("Count every piece", BOT)
        assert (pull.base_branch, pull.head_branch) == (
            "trunk",
            "patchwright/1-wrong-sum",
        )
        assert pull.is_open
        assert not pull.draft
        assert steady(story.reply(issue)) == STATUS
        assert story.reactions(issue) == ["eyes"]


def test_the_commit_names_the_bot_as_author_and_the_requester_beside_it(
    tmp_path: Path,
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        alice = story.github.world.user("alice").id
        show = git(
            story.github.git_folder(REPO),
            "show",
            "--no-patch",
            "--format=%an <%ae>%n%B",
            pull.head_sha,
        )
        author, _, message = show.decode().partition("\n")
        assert author.startswith(f"{BOT} <")
        assert message.rstrip() == COMMIT.format(id=alice).rstrip()
        assert story.reply(issue)


def _comment(story: Story) -> int:
    issue = story.github.open_issue(REPO, "eve", "Wrong sum", "3 pieces cost 450.")
    story.say(issue, "It does. Could you look into this, @patchwright?")
    return issue


def _label(story: Story) -> int:
    issue = story.github.open_issue(REPO, "eve", "Wrong sum", "3 pieces cost 450.")
    story.github.label(REPO, issue, "patchwright", "alice")
    story.tell()
    return issue


@pytest.mark.parametrize("ask", [_comment, _label])
def test_a_comment_or_a_label_asks_as_well(
    tmp_path: Path, ask: Callable[[Story], int]
) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = ask(story)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert steady(pull.body) == PULL_REQUEST
        assert steady(story.reply(issue)) == STATUS


def test_s40_the_status_comment_is_edited_in_place(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        story.work()
        posts = [
            request
            for request in story.github.requests
            if request.method == "POST" and request.path.endswith("/comments")
        ]
        assert len(posts) == 1 + len(story.pings(issue))
        assert steady(story.reply(issue)) == STATUS
