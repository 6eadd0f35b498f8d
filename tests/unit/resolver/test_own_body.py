"""A pull request whose text is a template of the repository's own."""

import pytest

from patchwright.core.text.hidden import strip_hidden
from patchwright.core.text.markdown import PieceKind, read_markdown
from patchwright.core.text.mentions import find_request
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.pull_request import (
    MAX_BODY_CHARS,
    pull_request_text,
)
from tests.unit.resolver.endings import HANDLE, ORIGIN, proven


def of_template(body: str, outcome: Outcome | None = None) -> str:
    origin = ORIGIN.replace(body=body, names={"number": "7"})
    return pull_request_text(outcome or proven(), origin, draft=False).body


def test_a_repositorys_own_text_is_filled_in_and_says_it_all_its_way() -> None:
    text = of_template("{{closes}} ({{number}})\n\n{{evidence}}\n\n## By {{requester}}")
    assert text.startswith("Closes #7 (7)\n\n🟢 **Proven**")
    assert "## By alice\n\n<sub>run 7f3a9c1e" in text
    assert "The total ignored the pieces." not in text
    assert text.count("**Proven**") == 1


@pytest.mark.parametrize(
    "body",
    [
        "Nothing.",
        "<!-- {{evidence}} -->",
        "```\n{{evidence}}\n```",
        "`{{evidence}}`",
        "An open comment <!-- ",
        "An open block\n```",
        "<div hidden>{{evidence}}",
    ],
)
def test_the_evidence_is_read_whatever_a_template_says(body: str) -> None:
    warned = proven().replace(warnings=("A test file was deleted.",))
    text = of_template(body, warned)
    seen = strip_hidden(text).text
    evidence = seen.rindex("**Proven**")
    assert evidence < seen.index("- A test file was deleted.") < seen.index("<sub>run")
    blocks = [one for one in read_markdown(text).pieces if one.kind is PieceKind.FENCE]
    assert not any(one.start < text.rindex("**Proven**") < one.end for one in blocks)


def test_a_value_is_no_template_and_calls_nobody() -> None:
    sly = proven("{{requester}} @mallory").replace(title="@patchwright x")
    text = of_template("{{title}}: {{summary}}", sly)
    assert "{{requester}}" in text
    assert find_request(text, HANDLE) is None


def test_a_long_text_is_cut_where_the_agent_speaks_and_not_where_it_is_proven() -> None:
    text = of_template(
        "{{summary}}\n\n{{summary}}\n\n{{evidence}}", proven("x" * 90_000)
    )
    assert len(text) <= MAX_BODY_CHARS
    assert "**Proven**" in text
    assert "<sub>run 7f3a9c1e" in text
