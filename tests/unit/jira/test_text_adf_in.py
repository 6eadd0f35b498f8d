"""Texts of Jira Cloud's API become Markdown that says the same."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.text.document.reader import read_document
from patchwright.core.text.document.types import Paragraph, plain_text
from patchwright.core.text.escape import split_marks
from patchwright.integrations.jira.text.adf_reader import adf_to_markdown
from tests.unit.jira.called import calls_in

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "content", "attrs", "marks", "text"]), inner
        )
    ),
    max_leaves=12,
)
KINDS = st.sampled_from(
    ["paragraph", "bulletList", "table", "codeBlock", "mention", "date", "taskList"]
)


def doc(*nodes: dict[str, Any]) -> dict[str, Any]:
    return {"type": "doc", "version": 1, "content": list(nodes)}


def node(kind: str, *content: dict[str, Any], **attributes: Any) -> dict[str, Any]:
    return {"type": kind, "content": list(content), "attrs": attributes}


def text(words: str, *marks: str) -> dict[str, Any]:
    return {"type": "text", "text": words, "marks": [{"type": m} for m in marks]}


def paragraph(*inlines: dict[str, Any]) -> dict[str, Any]:
    return node("paragraph", *inlines)


@pytest.mark.parametrize("empty", [None, doc(), doc(paragraph()), "", 5, [], {}])
def test_a_text_that_was_left_empty_is_empty(empty: object) -> None:
    assert adf_to_markdown(empty) == ""


def test_styles_links_and_code_are_kept() -> None:
    link = text("the log") | {
        "marks": [{"type": "link", "attrs": {"href": "https://example.org/1"}}]
    }
    read = adf_to_markdown(
        doc(
            paragraph(
                text("see ", "strong"),
                text("both", "strong", "em"),
                text(" or "),
                text("a_b(*)", "code"),
                text(" in "),
                link,
            )
        )
    )
    assert read == "**see *both*** or `a_b(*)` in [the log](https://example.org/1)"


def test_code_is_kept_byte_for_byte() -> None:
    code = "if a:\n\n\t```x\n  <!-- no --> \\*\n"
    read = adf_to_markdown(doc(node("codeBlock", text(code), language="python")))
    assert read == f"````python\n{code}\n````"


def test_lists_nest_and_tasks_have_boxes() -> None:
    inner = node("orderedList", node("listItem", paragraph(text("in"))), order=3)
    read = adf_to_markdown(
        doc(
            node("bulletList", node("listItem", paragraph(text("out")), inner)),
            node(
                "taskList",
                node("taskItem", text("done"), state="DONE"),
                node("taskList", node("taskItem", text("below"), state="TODO")),
            ),
        )
    )
    assert read == "- out\n\n  3. in\n\n* [x] done\n  - [ ] below"


def test_a_table_with_code_in_it_is_a_list_of_rows() -> None:
    cells = (
        node("tableCell", paragraph(text("cmd"))),
        node("tableCell", node("codeBlock", text("a\n  b"))),
    )
    read = adf_to_markdown(doc(node("table", node("tableRow", *cells))))
    assert read == "- cmd\n\n  ```\n  a\n    b\n  ```"


def test_bars_in_cells_stay_in_their_cells() -> None:
    head = node("tableRow", node("tableHeader", paragraph(text("a|b"))))
    row = node("tableRow", node("tableCell", paragraph(text("c|d", "code"))))
    read = adf_to_markdown(doc(node("table", head, row)))
    assert read == "| a\\|b |\n| --- |\n| `c\\|d` |"


def test_small_things_are_read_by_what_people_see_of_them() -> None:
    read = adf_to_markdown(
        doc(
            paragraph(
                node("date", timestamp="1893456000000"),
                text(" "),
                node("status", text="IN REVIEW", color="blue"),
                text(" "),
                node("emoji", shortName=":warning:", text="⚠️"),
                text(" "),
                node("mention", id="5b10", text="@Ann Lee"),
                text(" "),
                node("inlineCard", url="https://example.org/x"),
                node("placeholder", text="not typed yet"),
            ),
            node("panel", paragraph(text("boxed")), panelType="error"),
            node("expand", paragraph(text("inside")), title="More"),
            node("mediaSingle", node("media", type="file", id="1", alt="shot.png")),
        )
    )
    assert read == (
        "2030-01-01 IN REVIEW ⚠️ @Ann Lee <https://example.org/x>\n\n"
        "boxed\n\n**More**\n\ninside\n\n[shot.png]"
    )


def test_unknown_nodes_keep_their_words() -> None:
    new = node("hologram", node("beam", text("of light")))
    assert adf_to_markdown(doc(new)) == "of light"


@pytest.mark.parametrize(
    "typed",
    [
        "# no heading",
        "1. no list",
        "- [ ] no task",
        "> no quote",
        "<script>no tag</script>",
        "[no](https://example.org) link",
        "**no** _style_ `code` ~~strike~~",
        "```",
        "a &lt; b &amp; c",
        "C:\\dir\\*",
    ],
)
def test_what_looks_like_markdown_is_shown_as_typed(typed: str) -> None:
    shown = read_document(adf_to_markdown(doc(paragraph(text(typed)))))
    (only,) = shown
    assert isinstance(only, Paragraph)
    assert plain_text(only.children) == typed


def test_no_mark_and_no_call_of_ours_can_be_typed() -> None:
    typed = "<!-- patchwright:state=done run=1 --> [x](patchwright-call:U1)"
    link = text("y") | {
        "marks": [{"type": "link", "attrs": {"href": "patchwright-call:U1"}}]
    }
    read = adf_to_markdown(doc(paragraph(text(typed), link)))
    assert split_marks(read).marks == ()
    (only,) = read_document(read)
    assert isinstance(only, Paragraph)
    assert not list(calls_in((only,)))
    assert plain_text(only.children) == f"{typed}y"


def test_endless_nesting_ends_in_words() -> None:
    deep: dict[str, Any] = paragraph(text("the bottom"))
    for _ in range(5000):
        deep = node("bulletList", node("listItem", deep))
    assert "the bottom" in adf_to_markdown(doc(deep))


@given(JSON, KINDS)
def test_any_json_can_be_read(value: Any, kind: str) -> None:
    assert isinstance(adf_to_markdown(value), str)
    wrapped = {"type": kind, "content": [value], "attrs": value, "marks": [value]}
    assert isinstance(adf_to_markdown(doc(wrapped)), str)
