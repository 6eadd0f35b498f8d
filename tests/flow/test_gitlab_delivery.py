"""A merge request for an issue of GitLab, as people read it, and who gets none."""

from pathlib import Path

from tests.fakes.llm.turns import call
from tests.flow.gitlab_story import BRANCH, SHOP, telling_gitlab
from tests.flow.script import in_turn
from tests.flow.story import fix_turns
from tests.flow.text import steady

ANSWER = call("finish", summary="Looked.", answer="The pieces are not counted.")
PROVEN = """\
🟢 **Proven**: in fresh sandboxes, the test fails without the change and passes with \
it, and no test that passed before fails now.

The agent wrote:

> The total ignored the pieces."""
TESTS = """\
| test | without the change | with it | why it failed without |
|---|---|---|---|
| `test_pieces.PiecesTest.test_every_piece_counts` | 🔴 failed | 🟢 passed | \
`AssertionError: 450 != 1350` |

Each part that was tried is needed: the tests fail without it (1 of 1 changed part \
removed in turn).

The repository's own tests, `python3 -m unittest test_cart.py`: 1 test compared."""
COMMANDS = """\
| | command | commit | result | time |
|---|---|---|---|---|
| without the change | `python3 -m unittest test_pieces` | `COMMIT` | 🔴 exit 1 | N s |
| with it | `python3 -m unittest test_pieces` | `COMMIT` | 🟢 exit 0 | N s |
| own tests, without it | `python3 -m unittest test_cart.py` | `COMMIT` | 🟢 exit 0 | \
N s |
| own tests, with it | `python3 -m unittest test_cart.py` | `COMMIT` | 🟢 exit 0 | N s |

</details>"""
DESCRIPTION = f"""\
<!-- patchwright:body text=DIGEST title=DIGEST -->

{PROVEN}

Closes #1

### Evidence

{TESTS}

<details><summary>4 commands, run by the controller in fresh sandboxes</summary>

{COMMANDS}

<sub>Base [`COMMIT`](GITHUB/acme/tools/shop/-/commit/SHA), head \
[`COMMIT`](GITHUB/acme/tools/shop/-/commit/SHA). Run by the controller in fresh \
sandboxes, not by the agent. “Without the change” is the base commit with only the \
test files of this change.</sub>

**2 files** changed: 9 lines added, 1 removed.

<sub>run RUN · requested by @alice · model openai/scripted · 4 steps · Ns · 480 \
tokens, price unknown</sub>

<!-- patchwright:end -->"""
STATUS = f"""\
**Done, proven** · !1 · 4 steps · Ns · 480 tokens, price unknown · 2 files, +9 -1

{PROVEN}

<details><summary>Evidence: 4 commands, run by the controller in fresh sandboxes\
</summary>

{TESTS}

{COMMANDS}

<sub>run RUN · requested by alice · thread read at TIME · model openai/scripted</sub>

<!-- patchwright:state=resolved run=RUN -->"""


def test_a_mention_becomes_a_proven_merge_request(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, fix_turns()) as story:
        issue = story.ask("@patchwright fix the sum")
        pull = story.merge_request()
        assert (pull.title, pull.base_branch, pull.draft) == (
            "Count every piece",
            "main",
            False,
        )
        assert steady(pull.body) == DESCRIPTION
        assert steady(story.reply(issue)) == STATUS
        assert story.awards(issue) == ["eyes"]
        assert len(story.pings(issue)) == 1
        assert story.branches() == [BRANCH]
        assert "p * n" in story.file(BRANCH, "cart.py")
        assert len(story.jobs()) == 1
        alice = story.gitlab.world.user("alice").id
        assert story.commit_message(BRANCH).endswith(
            f"Co-authored-by: alice <{alice}-alice@users.noreply.127.0.0.1>"
        )


def test_a_question_is_answered_in_one_note(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, in_turn(ANSWER)) as story:
        issue = story.ask("@patchwright why is that?")
        assert story.reply(issue).startswith("**Answered** · 1 step · ")
        assert "\n\n> The pieces are not counted.\n\n" in story.reply(issue)
        assert story.gitlab.merge_requests(SHOP) == []


def test_s09_s17_who_is_no_member_gets_no_run(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, []) as story:
        issue = story.ask("@patchwright why is that?", author="eve")
        assert story.outcome().reason == "not-permitted"
        assert story.awards(issue) == ["thumbsdown"]
        assert story.notes(issue) == []
