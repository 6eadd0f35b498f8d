"""What a pull request says."""

import re

import pytest

from patchwright.core.text.escape import TextPlace, find_active
from patchwright.core.text.mentions import find_request
from patchwright.core.types.evidence import Evidence, Proof, ProofReason
from patchwright.core.types.work import BlockedRequest, DiffStat, Outcome
from patchwright.resolver.messages.pull_request import (
    MAX_BODY_CHARS,
    MAX_TITLE_CHARS,
    Provenance,
    RequestOrigin,
    pull_request_text,
)
from tests.unit.resolver.endings import HANDLE, ORIGIN, RED, judged, proven

PROVEN = """\
🟢 **Proven**: in fresh sandboxes, the test fails without the change and passes with it.

The agent wrote:

> The total ignored the pieces.

Closes #7

### Evidence

| test | without the change | with it | why it failed without |
|---|---|---|---|
| `tests/test_cart.py::test_pieces` | 🔴 failed | 🟢 passed | `assert 450 == 1350` |

<details><summary>2 commands, run by the controller in fresh sandboxes</summary>

| | command | commit | result | time |
|---|---|---|---|---|
| without the change | `pytest -k sum` | `aaaaaaaaaa` | 🔴 exit 1 | 1.2 s |
| with it | `pytest -k sum` | `bbbbbbbbbb` | 🟢 exit 0 | 1.2 s |

</details>

<sub>Base `aaaaaaaaaa`, head `bbbbbbbbbb`. Run by the controller in fresh sandboxes, \
not by the agent. “Without the change” is the base commit with only the test files of \
this change.</sub>

**2 files** changed: 12 lines added, 1 removed.

<sub>run 7f3a9c1e · requested by @alice · model openai/x · 7 steps · 2m 10s · \
$0.41</sub>"""


def test_a_proven_change_reads_so() -> None:
    changed = DiffStat(files=2, insertions=12, deletions=1)
    outcome = proven().replace(changed=changed)
    text = pull_request_text(outcome, ORIGIN, draft=False)
    assert text.title == "Count every piece"
    assert not text.draft
    assert text.body == PROVEN


def test_what_the_network_refused_has_a_section() -> None:
    blocked = tuple(
        BlockedRequest(host=f"h{number}.example", port=443) for number in range(25)
    )
    outcome = proven().replace(blocked=blocked)
    body = pull_request_text(outcome, ORIGIN, draft=False).body
    _, _, section = body.partition("### Blocked network requests\n\n")
    assert section.startswith("- `h0.example:443`, 1 time\n- `h1.example:443`")
    assert "- `h19.example:443`, 1 time\n- … and 5 more\n\n<sub>" in section


def test_a_change_in_doubt_says_what_to_look_at() -> None:
    unproven = judged(
        Proof.NOT_PROVEN,
        ProofReason.NO_COMMAND,
        evidence=(),
        warnings=("A test file was deleted: `tests/test_a.py`.",),
        notes=("Hidden text was removed: 1 HTML comment.", "A fork."),
    )
    origin = ORIGIN.replace(issue=None, run_url="https://bot.test/runs/7")
    text = pull_request_text(unproven, origin, draft=True)
    assert text.draft
    assert (
        text.body
        == """\
🟡 **Not proven**: no test command was named, so nothing was run. Set \
`test = ["pytest -q"]`, or your command, in `.patchwright.toml`.

The agent wrote:

> The total ignored the pieces.

### Look at this first

- A test file was deleted: `tests/test_a.py`.

### Remarks

- Hidden text was removed: 1 HTML comment.
- A fork.

<sub>[run 7f3a9c1e](https://bot.test/runs/7) · requested by @alice · model openai/x · \
7 steps · 2m 10s · $0.41 · not proven</sub>"""
    )


def test_s38_with_a_workflows_token_checks_must_be_started() -> None:
    nudged = ORIGIN.replace(checks_need_nudge=True)
    assert (
        "> The checks have not started"
        in pull_request_text(proven(), nudged, draft=False).body
    )
    assert "nudge" not in _body(proven())


def test_a_repositorys_template_for_titles_is_filled_in() -> None:
    named = ORIGIN.replace(title="fix: {{title}} (#{{number}})", names={"number": "7"})
    text = pull_request_text(proven(), named, draft=False)
    assert text.title == "fix: Count every piece (#7)"


def test_r8_a_title_is_no_longer_than_github_takes() -> None:
    long = ORIGIN.replace(title="{{title}}" * 50)
    title = pull_request_text(proven(), long, draft=False).title
    assert len(title) == MAX_TITLE_CHARS
    assert title.endswith("…")


@pytest.mark.parametrize(
    ("key", "template", "title"),
    [
        ("APP-7", "", "APP-7: Count every piece"),
        ("APP-7", "fix: {{title}}", "fix: Count every piece"),
        ("", "", "Count every piece"),
    ],
)
def test_a_title_begins_with_the_tickets_key(
    key: str, template: str, title: str
) -> None:
    of_ticket = ORIGIN.replace(key=key, title=template)
    assert pull_request_text(proven(), of_ticket, draft=False).title == title


def test_a_key_that_the_title_has_is_not_said_twice() -> None:
    said = proven().replace(title="Count every piece (APP-7)")
    of_ticket = ORIGIN.replace(key="APP-7")
    text = pull_request_text(said, of_ticket, draft=False)
    assert text.title == "Count every piece (APP-7)"


def test_a_change_leads_back_to_where_it_was_asked_for() -> None:
    ticket = RequestOrigin(name="APP-7", url="https://acme.test/browse/APP-7")
    chat = RequestOrigin(name="a thread in Slack", url="https://acme.slack.test/p1")
    asked = ORIGIN.replace(origins=(ticket, chat))
    head, _, _ = pull_request_text(proven(), asked, draft=False).body.partition("###")
    assert (
        head
        == """\
🟢 **Proven**: in fresh sandboxes, the test fails without the change and passes with it.

The agent wrote:

> The total ignored the pieces.

Closes #7
For [APP-7](https://acme.test/browse/APP-7)
For [a thread in Slack](https://acme.slack.test/p1)

"""
    )


def test_a_repositorys_template_is_filled_in() -> None:
    template = """\
<!-- Thank you! -->
## What does this change?
Describe it here.

## How has this been tested?
- [ ] by hand
Describe the tests.

## Screenshots
Before and after.
"""
    filled = ORIGIN.replace(template=template)
    body = pull_request_text(proven(), filled, draft=False).body
    head, _, rest = body.partition("🟢 **Proven**: in fresh sandboxes")[2].partition(
        "🟢 **Proven**"
    )
    assert head.endswith(
        """\
Closes #7

## What does this change?

The agent wrote:

> The total ignored the pieces.

## How has this been tested?

"""
    )
    assert "test files of this change.</sub>\n\n- [ ] by hand\n\n" in rest
    assert "- [ ] by hand\n\n## Screenshots\nBefore and after.\n\n<sub>run" in rest
    assert "Evidence" not in body


@pytest.mark.parametrize(
    ("command", "cell"),
    [
        ("a | b", r"`a \| b`"),
        ("echo `date`", "`` echo `date` ``"),
        ("one\n  two", "`one two`"),
        ("x" * 200, f"`{'x' * 119}…`"),
    ],
)
def test_a_command_fits_into_its_cell(command: str, cell: str) -> None:
    ran = RED.replace(command=command)
    rows = _body(proven().replace(evidence=(ran,))).splitlines()
    [row] = [line for line in rows if line.startswith("| without the change | `")]
    assert f"| {cell} |" in row


@pytest.mark.parametrize(
    ("code", "cell"), [(None, "⏱ did not end"), (0, "🟢 exit 0"), (127, "🔴 exit 127")]
)
def test_an_exit_code_reads_so(code: int | None, cell: str) -> None:
    ran: Evidence = RED.replace(exit_code=code)
    assert f"| {cell} |" in _body(proven().replace(evidence=(ran,)))


@pytest.mark.parametrize("notes", [1, 400])
def test_r8_the_agents_words_are_cut_and_never_the_evidence(notes: int) -> None:
    outcome = proven("wörd " * 40_000).replace(
        notes=("A remark of some length, as they are.",) * notes
    )
    template = ORIGIN.replace(template="## Notes\n" + "text " * 9_000)
    body = pull_request_text(outcome, template, draft=False).body
    assert len(body) <= MAX_BODY_CHARS
    assert "characters cut" in body
    assert "| with it | `pytest -k sum` |" in body
    assert "Closes #7" in body
    assert body.endswith("$0.41</sub>")


def test_s08_the_bots_pull_request_is_no_request() -> None:
    outcome = proven(f"{HANDLE} go on").replace(
        title=f"{HANDLE} do it", warnings=(f"{HANDLE} look",)
    )
    asking = ORIGIN.replace(template=f"## More\n{HANDLE} review\n")
    text = pull_request_text(outcome, asking, draft=False)
    assert find_request(text.body, HANDLE) is None
    assert find_request(text.title, HANDLE) is None


_CALLING = "Ask `@bob`, as in\n\n```python\n@acme/security\n@pytest.fixture\n```"


@pytest.mark.parametrize("body", ["", "{{summary}} {{title}} {{evidence}}"])
def test_m10_a_squash_calls_nobody_whom_the_agent_named_in_code(body: str) -> None:
    """GitHub makes a commit's message of it, and knows no code there."""
    found = Evidence(**{**dict(RED), "command": "npm test @zoe/pkg"})
    outcome = Outcome(
        **{
            **dict(proven()),
            "summary": _CALLING,
            "title": "Ask `@bob`",
            "evidence": (found,),
            "warnings": ("See `@eve`.",),
            "notes": ("And `@dan`.",),
        }
    )
    origin = Provenance(**{**dict(ORIGIN), "body": body})
    text = pull_request_text(outcome, origin, draft=False)
    message = f"{text.title}\n\n{text.body}".replace(f"@{ORIGIN.requester}", "")
    assert find_active(text.title, TextPlace.PLAIN) == ()
    assert re.findall(r"@\w+", message) == []
    for name in ("bob", "acme/security", "pytest.fixture", "zoe/pkg", "eve", "dan"):
        assert f"@ {name}" in message


def test_m10_much_that_calls_somebody_still_fits() -> None:
    outcome = Outcome(**{**dict(proven()), "summary": "`@a" * 40_000})
    body = pull_request_text(outcome, ORIGIN, draft=False, max_chars=5_000).body
    assert len(body) <= 5_000
    assert "The agent wrote:" in body
    assert "@a" not in body.replace(f"@{ORIGIN.requester}", "")


def _body(outcome: Outcome) -> str:
    return pull_request_text(outcome, ORIGIN, draft=False).body


def test_without_evidence_none_is_claimed() -> None:
    quiet = proven().replace(proof=Proof.NONE, evidence=())
    text = pull_request_text(quiet, ORIGIN, draft=True).body
    assert "**No evidence**" in text
    assert text.endswith(" · no evidence</sub>")
    assert "roven" not in text
