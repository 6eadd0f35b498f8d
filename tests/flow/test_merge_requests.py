"""A mention on GitLab becomes a merge request, and what is refused is named."""

from pathlib import Path

import pytest

from tests.fakes.gitlab.acts.builds import Report
from tests.fakes.gitlab.acts.merges import Proposal, Remark, Spot
from tests.fakes.gitlab.fake import MERGE_REQUEST
from tests.fakes.gitlab.state import Level, PushRules
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.gitlab_story import BOT, SHOP, telling_gitlab
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import fix_turns
from tests.flow.text import steady

WISH = "@patchwright please fix the sum, 3 pieces cost 450"
BODY = """\
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

<sub>Base [`COMMIT`](GITHUB/acme/tools/shop/-/commit/SHA), head \
[`COMMIT`](GITHUB/acme/tools/shop/-/commit/SHA). Run by the controller in fresh \
sandboxes, not by the agent. “Without the change” is the base commit with only the \
test files of this change.</sub>

**2 files** changed: 9 lines added, 1 removed.

<sub>run RUN · requested by @alice · model openai/scripted · 4 steps · Ns · 480 \
tokens, price unknown</sub>

<!-- patchwright:end -->"""


def test_t3_a_mention_becomes_a_merge_request(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, fix_turns()) as story:
        issue = story.ask(WISH)
        made = story.merge_request()
        assert steady(made.body) == BODY
        assert (made.title, made.author, made.draft) == (
            "Count every piece",
            BOT,
            False,
        )
        assert (made.base_branch, made.head_branch, made.assignees) == (
            "main",
            "patchwright/1-wrong-sum",
            ("alice",),
        )
        assert story.reply(issue).startswith("**Done, proven** · !1 · 4 steps · ")
        assert story.awards(issue) == ["eyes"]


def test_t3_who_may_not_write_starts_nothing(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, in_turn()) as story:
        issue = story.ask(WISH, author="eve")
        assert (story.awards(issue), story.replies(issue)) == (["thumbsdown"], [])


def test_r9_a_push_rule_is_named_and_the_work_is_kept(tmp_path: Path) -> None:
    with telling_gitlab(tmp_path, fix_turns()) as story:
        story.gitlab.set_rules(SHOP, PushRules(branch_name="^(feat|fix)/.*"))
        issue = story.ask(WISH)
        said = story.reply(issue)
        assert (
            "The result could not be delivered: A push rule demands that names of "
            "branches match `^(feat|fix)/.*`. Set such a name: `branch` in "
            "`.patchwright.toml`."
        ) in said
        assert "does not follow the pattern '^(feat|fix)/.*'" in said
        assert "+++ b/cart.py\n" in said
        assert story.gitlab.merge_requests(SHOP) == []


def test_r8_a_failed_pipeline_of_our_merge_request_starts_another_round(
    tmp_path: Path,
) -> None:
    def look(request: Request) -> TurnLike:
        told = asked(request)
        assert "lint" in told
        assert "$ lint\ncart.py:5: line too long\n" in told
        looked.append(True)
        return call("finish", title="Shorten it", summary="Nothing more to do.")

    looked: list[bool] = []
    with telling_gitlab(tmp_path, in_turn(*fix_turns(), look)) as story:
        issue = story.ask(WISH)
        made = story.merge_request()
        report = Report(name="lint", trace="$ lint\ncart.py:5: line too long\n")
        story.gitlab.run_pipeline(SHOP, made.head_branch, [report], "alice")
        story.work()
        assert looked == [True]
        assert story.reply(issue).startswith("**Done, proven** · !1")
        assert story.reply(made.number, MERGE_REQUEST).startswith("**No change**")


def test_t3_a_review_is_read_and_each_discussion_answered(tmp_path: Path) -> None:
    code = "\n    return 3\n```"
    shown = f"Suggested in place of line 2:\n\n```{code}"

    def look(request: Request) -> TurnLike:
        told = asked(request)
        assert f'author="bob" role="developer">\n{shown}\n' in told
        assert "+def price():\n+    return 2\n</data" in told
        return call("write", path="price.py", content="def price():\n    return 3\n")

    verdicts = [{"thread": 1, "verdict": "addressed", "text": "It returns 3 now."}]
    finish = call("finish", title="Three", summary="It is three.", reviews=verdicts)
    with telling_gitlab(tmp_path, in_turn(look, finish)) as story:
        gitlab = story.gitlab
        gitlab.add_user("bob")
        gitlab.grant(SHOP, "bob", Level.DEVELOPER)
        source = "def price():\n    return 2\n"
        gitlab.commit_files(SHOP, "price", {"price.py": source}, author="alice")
        wanted = Proposal(title="Price", source="price", target="main")
        number = gitlab.open_merge_request(SHOP, "alice", wanted)
        spot = Spot(path="price.py", line=2)
        gitlab.review(
            SHOP,
            number,
            "bob",
            remarks=[Remark(spot=spot, body=f"```suggestion:-0+0{code}")],
        )
        wish = "@patchwright address the review"
        gitlab.comment(SHOP, number, "alice", wish, kind=MERGE_REQUEST)
        story.work()
        answers = [one for one in story.at_lines(number) if "3 now" in one]
        assert len(answers) == 1
        notes = gitlab.comments(SHOP, number, MERGE_REQUEST)
        on_lines = [one for one in notes if one.position]
        assert len(on_lines) == len(answers) + 1
        assert all(one.resolved_at for one in on_lines)


@pytest.mark.parametrize("command", ["/close", "/confidential"])
def test_what_the_agent_says_is_no_command_to_gitlab(
    tmp_path: Path, command: str
) -> None:
    answer = call("finish", summary=f"Write\n\n{command}\n\nto do so.")
    with telling_gitlab(tmp_path, in_turn(answer)) as story:
        issue = story.ask("@patchwright how is it done?")
        assert command in story.reply(issue)
        found = story.gitlab.thread(SHOP, issue)
        assert (found.is_open, found.confidential) == (True, False)
