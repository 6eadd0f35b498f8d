"""Our Markdown as a document."""

import pytest

from patchwright.core.text.document.reader import read_document
from patchwright.core.text.document.types import (
    Block,
    BlockQuote,
    Code,
    CodeBlock,
    Details,
    Emphasis,
    Heading,
    HorizontalRule,
    Hyperlink,
    Inline,
    InlineImage,
    Inlines,
    LineBreak,
    ListBlock,
    ListItem,
    Mention,
    Paragraph,
    PlainText,
    Strike,
    Strong,
    Subscript,
    Table,
)
from patchwright.core.text.escape import mention_link, without_mentions
from tests.unit.text.documents import words_of


def paragraph(text: str) -> Paragraph:
    return Paragraph((PlainText(text),))


def inlines(markdown: str) -> Inlines:
    (block,) = read_document(markdown)
    assert isinstance(block, Paragraph)
    return block.children


@pytest.mark.parametrize(
    ("markdown", "inline"),
    [
        ("`a  <b> &amp;`", Code("a  <b> &amp;")),
        ("**a**", Strong((PlainText("a"),))),
        ("*a*", Emphasis((PlainText("a"),))),
        ("~~a~~", Strike((PlainText("a"),))),
        ("<sub>a</sub>", Subscript((PlainText("a"),))),
        ("<sub>a **b**</sub>", Subscript((PlainText("a "), Strong((PlainText("b"),))))),
        ("<code>git am</code>", Code("git am")),
        ("[a](https://b.c)", Hyperlink("https://b.c", (PlainText("a"),))),
        ("<https://b.c>", Hyperlink("https://b.c", (PlainText("https://b.c"),))),
        ("![a *b*](https://b.c)", InlineImage("https://b.c", "a b")),
        ("\\*a\\* &lt;b&gt;", PlainText("*a* <b>")),
        ("a <foo> b", PlainText("a <foo> b")),
        ("a <sub>b", PlainText("a <sub>b")),
        ("a</sub> b", PlainText("a</sub> b")),
        ("a<!-- hidden --> b", PlainText("a b")),
        ("**a <sub>b** c", Strong((PlainText("a <sub>b"),))),
    ],
)
def test_what_stands_in_a_line_is_read(markdown: str, inline: Inline) -> None:
    assert inlines(markdown)[0] == inline


@pytest.mark.parametrize("markdown", ["a\nb", "a\\\nb", "a  \nb", "a<br>b", "a\r\nb"])
def test_a_line_ends_where_a_comment_of_a_forge_ends_it(markdown: str) -> None:
    assert inlines(markdown) == (PlainText("a"), LineBreak(), PlainText("b"))


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
    assert Hyperlink(url, (PlainText(url),)) in inlines(text)
    assert words_of(read_document(text)) == text.split()


@pytest.mark.parametrize(
    ("markdown", "block"),
    [
        ("## a", Heading(2, (PlainText("a"),))),
        ("---", HorizontalRule()),
        ("```diff\n+a\n\n b\n```", CodeBlock("+a\n\n b", "diff")),
        ("~~~\n```\n~~~", CodeBlock("```")),
        ("    a\n    b", CodeBlock("a\nb")),
        ("> a", BlockQuote((paragraph("a"),))),
        ("> [!WARNING]\n> a", BlockQuote((paragraph("a"),), "warning")),
        ("> [!NOTE]\n>\n> a", BlockQuote((paragraph("a"),), "note")),
        ("> [!NOTE] a", BlockQuote((paragraph("[!NOTE] a"),))),
        ("> [!MINE]\n", BlockQuote((paragraph("[!MINE]"),))),
        ("- a", ListBlock((ListItem((paragraph("a"),)),))),
        ("3. a", ListBlock((ListItem((paragraph("a"),)),), 3)),
        ("- [x] a", ListBlock((ListItem((paragraph("a"),), checked=True),))),
        ("- [ ] a", ListBlock((ListItem((paragraph("a"),), checked=False),))),
        ("- [ ]", ListBlock((ListItem((paragraph("[ ]"),)),))),
        (
            "|a|b|\n|-|-|\n|`x\\|y`|",
            Table(((PlainText("a"),), (PlainText("b"),)), (((Code("x|y"),), ()),)),
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
    title = (PlainText("A patch, for "), Code("git am"))
    fold = Details(title, (CodeBlock("+a", "diff"),))
    assert read_document(text) == (fold, paragraph("after"))


def test_details_hold_details() -> None:
    text = (
        "<details>\n<summary>a</summary>\n\n<details><summary>b &lt;</summary>\n"
        "raw *c*\n</details>\n\nd\n\n</details>"
    )
    inner = Details((PlainText("b <"),), (paragraph("raw *c*"),))
    assert read_document(text) == (Details((PlainText("a"),), (inner, paragraph("d"))),)


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
    assert inlines(mention_link("jane", person_id)) == (Mention(person_id, "jane"),)


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
    assert "Call(" not in repr(read_document(without_mentions(text)))


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
