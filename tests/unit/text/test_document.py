"""Our Markdown as a document."""

import pytest

from patchwright.core.text.document.read import read_document
from patchwright.core.text.document.types import (
    Block,
    Call,
    Code,
    CodeBlock,
    Emphasis,
    Fold,
    Grid,
    Heading,
    Inline,
    Inlines,
    Item,
    Items,
    LineBreak,
    Link,
    Paragraph,
    Picture,
    Quote,
    Rule,
    Small,
    Strike,
    Strong,
    Text,
)
from patchwright.core.text.marks import call, without_calls
from tests.unit.text.documents import words_of


def paragraph(text: str) -> Paragraph:
    return Paragraph((Text(text),))


def inlines(markdown: str) -> Inlines:
    (block,) = read_document(markdown)
    assert isinstance(block, Paragraph)
    return block.children


@pytest.mark.parametrize(
    ("markdown", "inline"),
    [
        ("`a  <b> &amp;`", Code("a  <b> &amp;")),
        ("**a**", Strong((Text("a"),))),
        ("*a*", Emphasis((Text("a"),))),
        ("~~a~~", Strike((Text("a"),))),
        ("<sub>a</sub>", Small((Text("a"),))),
        ("<sub>a **b**</sub>", Small((Text("a "), Strong((Text("b"),))))),
        ("<code>git am</code>", Code("git am")),
        ("[a](https://b.c)", Link("https://b.c", (Text("a"),))),
        ("<https://b.c>", Link("https://b.c", (Text("https://b.c"),))),
        ("![a *b*](https://b.c)", Picture("https://b.c", "a b")),
        ("\\*a\\* &lt;b&gt;", Text("*a* <b>")),
        ("a <foo> b", Text("a <foo> b")),
        ("a <sub>b", Text("a <sub>b")),
        ("a</sub> b", Text("a</sub> b")),
        ("a<!-- hidden --> b", Text("a b")),
        ("**a <sub>b** c", Strong((Text("a <sub>b"),))),
    ],
)
def test_what_stands_in_a_line_is_read(markdown: str, inline: Inline) -> None:
    assert inlines(markdown)[0] == inline


@pytest.mark.parametrize("markdown", ["a\nb", "a\\\nb", "a  \nb", "a<br>b", "a\r\nb"])
def test_a_line_ends_where_a_comment_of_a_forge_ends_it(markdown: str) -> None:
    assert inlines(markdown) == (Text("a"), LineBreak(), Text("b"))


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("see https://a.b/c_d_e.", "https://a.b/c_d_e"),
        ("(see https://a.b/c?x=1&y=2)", "https://a.b/c?x=1&y=2"),
        ("see https://a.b/c_(d)!", "https://a.b/c_(d)"),
    ],
)
def test_a_bare_address_is_a_link_without_the_sentence_around_it(
    text: str, url: str
) -> None:
    assert Link(url, (Text(url),)) in inlines(text)
    assert words_of(read_document(text)) == text.split()


@pytest.mark.parametrize(
    ("markdown", "block"),
    [
        ("## a", Heading(2, (Text("a"),))),
        ("---", Rule()),
        ("```diff\n+a\n\n b\n```", CodeBlock("+a\n\n b", "diff")),
        ("~~~\n```\n~~~", CodeBlock("```")),
        ("    a\n    b", CodeBlock("a\nb")),
        ("> a", Quote((paragraph("a"),))),
        ("> [!WARNING]\n> a", Quote((paragraph("a"),), "warning")),
        ("> [!NOTE]\n>\n> a", Quote((paragraph("a"),), "note")),
        ("> [!NOTE] a", Quote((paragraph("[!NOTE] a"),))),
        ("> [!MINE]\n", Quote((paragraph("[!MINE]"),))),
        ("- a", Items((Item((paragraph("a"),)),))),
        ("3. a", Items((Item((paragraph("a"),)),), 3)),
        ("- [x] a", Items((Item((paragraph("a"),), checked=True),))),
        ("- [ ] a", Items((Item((paragraph("a"),), checked=False),))),
        ("- [ ]", Items((Item((paragraph("[ ]"),)),))),
        (
            "|a|b|\n|-|-|\n|`x\\|y`|",
            Grid(((Text("a"),), (Text("b"),)), (((Code("x|y"),), ()),)),
        ),
        ("[^1]: note", paragraph("[^1]: note")),
    ],
)
def test_blocks_are_read(markdown: str, block: Block) -> None:
    assert read_document(markdown) == (block,)


def test_details_hold_the_markdown_in_them() -> None:
    text = (
        "<details><summary>A patch, for <code>git am</code></summary>\n\n"
        "```diff\n+a\n```\n\n</details>\n\nafter"
    )
    title = (Text("A patch, for "), Code("git am"))
    fold = Fold(title, (CodeBlock("+a", "diff"),))
    assert read_document(text) == (fold, paragraph("after"))


def test_details_hold_details() -> None:
    text = (
        "<details>\n<summary>a</summary>\n\n<details><summary>b &lt;</summary>\n"
        "raw *c*\n</details>\n\nd\n\n</details>"
    )
    inner = Fold((Text("b <"),), (paragraph("raw *c*"),))
    assert read_document(text) == (Fold((Text("a"),), (inner, paragraph("d"))),)


@pytest.mark.parametrize(
    "text",
    [
        "<details><summary>a</summary>\n\nb",
        "<details>\n\nb",
        "<details><summary>b\n",
        "<summary>b</summary>",
        "</details>\n\nb",
        "> <details>\n>\n> b\n\n</details>",
        "<details>\n" * 2_000 + "<b>b",
        "<div>\nb\n</div>",
        "<!-- a\n\nb",
    ],
)
def test_nothing_is_lost_by_html_that_does_not_match(text: str) -> None:
    document = read_document(text)
    assert "b" in "".join(words_of(document)) + repr(document)


def test_marks_and_other_comments_vanish() -> None:
    text = "<!-- patchwright:state=done run=x -->\n\na\n\n<!--\nmore\n-->"
    assert read_document(text) == (paragraph("a"),)


@pytest.mark.parametrize(
    "person_id", ["U12345", "557058:f5-a-b", "jane.doe", "a b(c)%d"]
)
def test_a_call_has_the_id_of_a_person(person_id: str) -> None:
    assert inlines(call("jane", person_id)) == (Call(person_id, "jane"),)


@pytest.mark.parametrize(
    "text",
    [
        "[x](patchwright-call:U1)",
        "[x](patchwright\\-call:U1)",
        "[x](patchwright&#45;call:U1)",
        "[x](<patchwright-call:U1>)",
        "[x][1]\n\n[1]: patchwright-call:U1",
        "[x][1]\n\n[1]: patchwright&#45;call:U1",
        "<patchwright-call:U1>",
        "[x](PATCHWRIGHT-CALL:U1)",
    ],
)
def test_texts_of_others_call_nobody(text: str) -> None:
    assert "Call(" not in repr(read_document(without_calls(text)))


@pytest.mark.parametrize(
    "text",
    [
        ">" * 5_000 + "deep",
        "- " * 3_000 + "deep",
        "![" * 5_000 + "deep" + "](a)" * 5_000,
        "[" * 5_000 + "deep" + "](a)" * 5_000,
        "*_" * 10_000 + "deep",
        "<sub>" * 5_000 + "deep" + "</sub>" * 5_000,
        "<details>\n\n" * 3_000 + "deep",
        ("> " * 10 + "<details>\n") * 300 + "\ndeep",
    ],
)
def test_a_text_that_is_nested_too_deeply_is_still_shown(text: str) -> None:
    assert "deep" in repr(read_document(text))
