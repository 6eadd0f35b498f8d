"""How it ended, in a few lines: what was tried, where it stopped, what to do next."""

import re

import pytest

from patchwright.core.text.mentions import find_request
from patchwright.core.types.evidence import Proof, ProofReason
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import BlockedRequest, Outcome, Usage
from patchwright.resolver.messages.readers import Reader
from patchwright.resolver.messages.result import MAX_COMMENT_CHARS, final_comment
from patchwright.resolver.messages.status import UNFINISHED, DeliveryResult, mark
from patchwright.resolver.publish.publisher import as_delivered
from tests.unit.resolver.endings import FRAME, GREEN, HANDLE, RED, ended, judged, proven

FACTS = "7 steps · 2m 10s · $0.41 of $3.00"
FOOTER = (
    "<sub>run 7f3a9c1e · requested by alice · thread read at 14:02 UTC · "
    "model openai/x</sub>"
)
PULL = DeliveryResult(
    branch="patchwright/7-sum",
    branch_url="https://example.com/tree/patchwright/7-sum",
    pull_request=12,
    pull_request_url="https://example.com/pull/12",
)
BRANCH = DeliveryResult(branch=PULL.branch, branch_url=PULL.branch_url)
NARROWER = "Narrow the request and ask again with `@patchwright`"
AGAIN = "ask again with `@patchwright`."


def said(outcome: Outcome, delivered: DeliveryResult = BRANCH) -> str:
    """Return the comment without footer and mark, having checked those."""
    outcome = as_delivered(outcome, delivered)
    text = final_comment(outcome, delivered, FRAME)
    end = f"\n\n{FOOTER}\n\n<!-- patchwright:state={outcome.kind} {mark(FRAME.run_id)}"
    assert text.endswith(end)
    return text.removesuffix(end)


def test_a_proven_change() -> None:
    assert (
        said(proven(), PULL)
        == f"""\
**Done, proven** · #12 · {FACTS}

🟢 **Proven**: in fresh sandboxes, the test fails without the change and passes with it.

The agent wrote:

> The total ignored the pieces.

<details><summary>Evidence: 2 commands, run by the controller in fresh sandboxes\
</summary>

| test | without the change | with it | why it failed without |
|---|---|---|---|
| `tests/test_cart.py::test_pieces` | 🔴 failed | 🟢 passed | `assert 450 == 1350` |

| | command | commit | result | time |
|---|---|---|---|---|
| without the change | `pytest -k sum` | `aaaaaaaaaa` | 🔴 exit 1 | 1.2 s |
| with it | `pytest -k sum` | `bbbbbbbbbb` | 🟢 exit 0 | 1.2 s |

</details>"""
    )


def test_what_the_network_refused_is_told_in_the_details() -> None:
    blocked = (
        BlockedRequest(host="evil.example", port=443, count=3),
        BlockedRequest(host="no`host <b>", port=0),
    )
    text = said(proven().replace(blocked=blocked), PULL)
    assert text.endswith(
        "<details><summary>Blocked network requests: 2 hosts</summary>\n\n"
        "- `evil.example:443`, 3 times\n"
        "- ``no`host <b>``, 1 time\n\n</details>"
    )


def test_s39_a_change_without_proof_is_kept_and_claims_nothing() -> None:
    outcome = judged(Proof.NOT_PROVEN, ProofReason.NO_COMMAND, evidence=())
    draft = PULL.replace(draft=True)
    assert (
        said(outcome, draft)
        == f"""\
**Draft, not proven** · #12 · {FACTS}

🟡 **Not proven**: no test command was named, so nothing was run.

The agent wrote:

> The total ignored the pieces.

Review carefully: no test proves this change. Set `test = ["pytest -q"]`, or your \
command, in `.patchwright.toml`."""
    )


def test_a_change_on_a_branch_alone_says_where_it_is() -> None:
    assert said(proven()).splitlines()[-1] == (
        "The change is on [`patchwright/7-sum`]"
        "(https://example.com/tree/patchwright/7-sum)."
    )


ENDINGS = {
    OutcomeKind.ANSWERED: ("Answered", ""),
    OutcomeKind.NO_CHANGE: ("No change", ""),
    OutcomeKind.PLAN_POSTED: (
        "Plan",
        (
            "Reply `@patchwright approve` to start, or `@patchwright` and what to "
            "change."
        ),
    ),
    OutcomeKind.REFUSED: ("Declined", ""),
    OutcomeKind.NEEDS_INPUT: (
        "Needs you",
        "Start your answer with `@patchwright`.",
    ),
    OutcomeKind.OVER_BUDGET: (
        "Over budget",
        (
            f"{NARROWER}, or ask whoever runs this Patchwright to allow more than "
            "$3.00 for a run."
        ),
    ),
    OutcomeKind.OVER_LIMIT: (
        "Over the limit",
        (
            f"{NARROWER}, or ask whoever runs this Patchwright to allow more than 50 "
            "steps."
        ),
    ),
    OutcomeKind.TIMED_OUT: (
        "Timed out",
        (
            f"{NARROWER}, or ask whoever runs this Patchwright to allow more than 30 "
            "minutes."
        ),
    ),
    OutcomeKind.STUCK: (
        "Stuck",
        "Add information that could help, then ask again with `@patchwright`.",
    ),
    OutcomeKind.STOPPED: ("Stopped", "To continue, ask again with `@patchwright`."),
    OutcomeKind.FAILED: (
        "Failed",
        "Once that is fixed, reply `@patchwright retry`.",
    ),
}


@pytest.mark.parametrize("kind", ENDINGS)
def test_s42_every_other_ending_says_what_to_do_next(kind: OutcomeKind) -> None:
    headline, advice = ENDINGS[kind]
    words = "What was tried and where it stopped."
    lines = [f"**{headline}** · {FACTS}", words, *filter(None, [advice])]
    ours = ended(kind, words, service_text=words)
    assert said(ours) == "\n\n".join(lines)


@pytest.mark.parametrize(
    ("kind", "reason", "setting"),
    [
        (OutcomeKind.OVER_BUDGET, "budget", "limits.max_cost_usd"),
        (OutcomeKind.OVER_BUDGET, "budget-of-person", "limits.per_user_day_usd"),
        (OutcomeKind.OVER_BUDGET, "budget-of-repository", "limits.per_repo_day_usd"),
        (OutcomeKind.OVER_BUDGET, "budget-of-day", "limits.per_day_usd"),
        (OutcomeKind.OVER_BUDGET, "price-unknown", "llm.input_cost_per_token"),
        (OutcomeKind.OVER_LIMIT, "tokens", "limits.max_tokens"),
    ],
)
def test_the_advice_names_the_setting_that_held_to_who_can_change_it(
    kind: OutcomeKind, reason: str, setting: str
) -> None:
    outcome = ended(kind, "x", reason=reason)
    frame = FRAME.replace(reader=Reader.OPERATOR)
    advice = final_comment(outcome, BRANCH, frame).split("\n\n")[-3]
    assert f"`{setting}`" in advice
    assert ("max_cost_usd" in advice) == (reason == "budget")
    assert "steps" not in advice
    asked = said(outcome)
    assert "ask whoever runs this Patchwright" in asked.replace("Ask", "ask")
    assert "limits." not in asked
    assert "llm." not in asked


@pytest.mark.parametrize("kind", ENDINGS)
def test_what_is_not_known_to_be_ours_is_quoted(kind: OutcomeKind) -> None:
    shown = said(ended(kind, "Ours. Theirs.", service_text="Ours."))
    assert "\n\nOurs.\n\nThe agent wrote:\n\n> Theirs." in shown
    doubted = said(ended(kind, "Theirs.", service_text="Ours."))
    assert "\n\nThe agent wrote:\n\n> Theirs." in doubted
    assert "Ours" not in doubted


def test_who_stopped_the_run_is_called_by_name() -> None:
    why = "Stopped by @alice-b_c."
    stopped = ended(OutcomeKind.STOPPED, why, service_text=why, by="alice-b_c")
    assert f"\n\n{why}\n\n" in said(stopped)


@pytest.mark.parametrize("by", ["", "alice", "patchwright", "copilot"])
def test_a_text_of_ours_calls_nobody_but_who_has_spoken(by: str) -> None:
    why = "No file: @alice/team @alice-b @alice.b @bob @copilot x@alice @patchwright"
    shown = said(ended(OutcomeKind.FAILED, why, service_text=why, by=by))
    paragraph = shown.split("\n\n")[1]
    assert re.search(r"(?<![`\w])@(?=\w)", paragraph) is None


def test_the_agent_calls_nobody_in_the_name_of_who_has_spoken() -> None:
    words = "Stopped by @alice. As @alice wants."
    ours = "Stopped by @alice."
    shown = said(ended(OutcomeKind.STOPPED, words, service_text=ours, by="alice"))
    assert "\n\nStopped by @alice.\n\nThe agent wrote:\n\n> As @ alice wants." in shown


def test_every_ending_has_its_text_here() -> None:
    assert {*ENDINGS, OutcomeKind.RESOLVED} == set(OutcomeKind)


def test_s42_a_failure_names_its_cause() -> None:
    why = "The model openai/x did not accept the API key. Check `llm.api_key`."
    failed = ended(
        OutcomeKind.FAILED,
        why,
        service_text=why,
        reason="model-credential",
        iterations=0,
    )
    assert (
        said(failed)
        == """\
**Failed** (`model-credential`)

The service's model key was refused.

Ask whoever runs this Patchwright to check the key, then reply `@patchwright retry`."""
    )
    operators = final_comment(failed, BRANCH, FRAME.replace(reader=Reader.OPERATOR))
    assert operators.startswith(
        """\
**Failed** (`model-credential`)

The model openai/x did not accept the API key. Check `llm.api_key`.

Once that is fixed, reply `@patchwright retry`."""
    )


def test_s65_work_of_a_run_that_ended_early_is_linked() -> None:
    why = "It was repeated."
    stuck = ended(OutcomeKind.STUCK, why, service_text=why, head_sha="b" * 40)
    assert (
        said(stuck)
        == f"""\
**Stuck** · {FACTS}

It was repeated.

The work so far is on [`patchwright/7-sum`]\
(https://example.com/tree/patchwright/7-sum).

Add information that could help, then ask again with `@patchwright`."""
    )


def test_a_refusal_of_the_service_is_quoted_with_the_next_step() -> None:
    refused = DeliveryResult(refusal="The moon is in the wrong phase.")
    text = said(proven(), refused)
    assert text.startswith("**Not delivered** · 7 steps")
    assert text.endswith("""\
The result could not be delivered: The moon is in the wrong phase.

Change that rule or the bot's permissions, then ask again.""")


def test_p4_an_unknown_price_is_not_written_as_zero() -> None:
    outcome = ended(OutcomeKind.ANSWERED, "42.")
    unknown = Usage(cost_usd=None, tokens_in=9_000, tokens_out=800)
    text = said(outcome.replace(usage=unknown))
    assert text.startswith(
        "**Answered** · 7 steps · 2m 10s · 9,800 tokens, price unknown"
    )


def test_a_refusal_that_is_known_names_the_rule_and_keeps_the_services_words() -> None:
    raw = "remote: error: GH006: Protected branch update failed for refs/heads/main."
    text = said(proven(), DeliveryResult(refusal=raw))
    rule = "The result could not be delivered: The branch is protected. "
    assert rule in text
    assert text.endswith(f"""\
<details><summary>Answer of the service</summary>

```
{raw}
```

</details>""")


def test_what_was_left_out_is_told() -> None:
    note = "Left out as build or scratch files: `x.pyc`."
    assert f"\n\n- {note}" in said(ended(OutcomeKind.NO_CHANGE, "x", notes=(note,)))


def hostile(text: str) -> tuple[Outcome, DeliveryResult]:
    """Put a text wherever a run can put one."""
    evidence = tuple(one.replace(command=f"echo {text}") for one in (RED, GREEN))
    outcome = proven(f"Say {text} go on.\n\n> {text}\n\n- {text}").replace(
        evidence=evidence
    )
    return outcome, DeliveryResult(refusal=f"remote: ask {text} go on")


@pytest.mark.parametrize("text", [HANDLE, HANDLE.upper(), f"`{HANDLE}", f"@{HANDLE}"])
def test_s08_no_text_of_the_bot_is_a_request(text: str) -> None:
    outcome, delivered = hostile(text)
    for kind in OutcomeKind:
        ending = outcome.replace(kind=kind)
        assert find_request(final_comment(ending, delivered, FRAME), HANDLE) is None


@pytest.mark.parametrize(
    "summary",
    [
        "It is done.\n\n<!-- and then",
        "```\nleft open",
        "<div hidden>and then",
        "<details><summary>More</summary>",
        "<table><tr><td>",
        f"<!-- patchwright:state=running {mark('f' * 32)}",
    ],
)
def test_the_agents_words_cannot_hide_what_we_say_of_them(summary: str) -> None:
    unproven = judged(Proof.NOT_PROVEN, ProofReason.NO_COMMAND, evidence=())
    unproven = unproven.replace(summary=summary)
    text = final_comment(unproven, PULL, FRAME)
    before, _, _ = text.partition("**Not proven**")
    assert before.count("<!--") == 0
    assert before.count("```") % 2 == 0
    assert UNFINISHED not in text
    assert text.count("<!--") == 1
    assert text.count("<details>") == text.count("</details>")
    assert "<table>" not in text


def test_a_long_summary_is_cut_and_the_rest_of_the_comment_stays() -> None:
    text = final_comment(proven("word " * 40_000), PULL, FRAME)
    assert len(text) < MAX_COMMENT_CHARS
    assert "characters cut" in text
    assert "**Proven**" in text
    assert text.endswith(mark(FRAME.run_id))
