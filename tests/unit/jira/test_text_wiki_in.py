"""Wiki markup becomes Markdown that says the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.text.document.reader import read_document
from patchwright.core.text.document.types import Paragraph, plain_text
from patchwright.core.text.escape import split_marks
from patchwright.integrations.jira.text.wiki_reader import wiki_to_markdown
from tests.unit.jira.called import calls_in

PIECES = st.sampled_from(
    [
        *(
            "{code}",
            "{code:java}",
            "{noformat}",
            "{quote}",
            "{panel:title=t}",
            "{panel}",
        ),
        *("[~ann]", "[a|https://example.org]", "!a.png!", "{{", "}}", "||", "|", "\n"),
        *("* ", "# ", "h1. ", "bq. ", "----", "\\", "*", "_", "-", "+", "^", "~", "??"),
        *("[", "]", "{", "}", "{color:red}", "{*}", "&#91;", "word", " ", "@b"),
    ]
)


@pytest.mark.parametrize(
    ("wiki", "markdown"),
    [
        ("*b* _i_ -d- {{m}} +u+", "**b** *i* ~~d~~ `m` u"),
        ("snake_case a-b 2 * 3 C++", "snake_case a-b 2 * 3 C++"),
        ("foo{*}bar{*}baz", "foo**bar**baz"),
        ("[text|https://example.org/a_b]", "[text](https://example.org/a_b)"),
        ("[https://example.org]", "<https://example.org>"),
        ("[a|https://example.org|smart-link]", "[a](https://example.org)"),
        ("[~ann] and [~accountid:5b10:a-b]", "@ann and @5b10:a-b"),
        ("[not a link] [here|#anchor]", "[not a link] here"),
        ("!a b.png|thumbnail! wow! yes!", "[a b.png] wow! yes!"),
        ("\\{code\\} \\*b\\* \\[x\\]", "{code} \\*b\\* [x]"),
        ("h2. Title\nwords\\\\\nmore", "## Title\n\nwords\nmore"),
        ("bq. said", "> said"),
        ("{quote}\na\n\nb\n{quote}", "> a\n>\n> b"),
        ("{color:#ff0000}red{color}", "red"),
        ("{panel:title=T|borderStyle=dashed}in{panel}", "**T**\n\nin"),
        ("a\n----\nb", "a\n\n___\n\nb"),
        ("* a\n** b\n*# c\n* d", "- a\n  - b\n\n  1. c\n- d"),
        ("||h||i||\n|a|[b|https://example.org]|", None),
        ("1 &lt; 2 &#91;x", "1 < 2 [x"),
        ("see https://example.org/a_b_c_ ok", "see <https://example.org/a_b_c>\\_ ok"),
    ],
)
def test_markup_is_read(wiki: str, markdown: str | None) -> None:
    table = "| h | i |\n| --- | --- |\n| a | [b](https://example.org) |"
    assert wiki_to_markdown(wiki) == (table if markdown is None else markdown)


@pytest.mark.parametrize(
    ("opening", "closing", "label"),
    [
        ("{code}", "{code}", ""),
        ("{code:java}", "{code}", "java"),
        ("{code:title=A.java|borderStyle=solid}", "{code}", ""),
        ("{code:language=python|title=x}", "{code}", "python"),
        ("{noformat}", "{noformat}", ""),
    ],
)
def test_code_is_kept_byte_for_byte(opening: str, closing: str, label: str) -> None:
    code = "a *b* [~c] \\{d\n\n\t{{e}} <!-- f --> ```\n  &lt;"
    read = wiki_to_markdown(f"see\r\n{opening}\r\n{code}\r\n{closing}\r\nend")
    assert read == f"see\n\n````{label}\n{code}\n````\n\nend"


def test_a_macro_that_nothing_closes_is_words() -> None:
    assert (
        wiki_to_markdown("use {code} or {quote} here") == "use {code} or {quote} here"
    )


def test_code_inside_a_quote_stays_there() -> None:
    read = wiki_to_markdown("{quote}a\n{code}\nb\n{code}\n{quote}c")
    assert read == "> a\n>\n> ```\n> b\n> ```\n\nc"


def test_no_mark_and_no_call_of_ours_can_be_typed() -> None:
    typed = "<!-- patchwright:state=done run=1 --> &lt;!-- patchwright:x -->"
    read = wiki_to_markdown(f"{typed} [x](patchwright-call:U) [y|patchwright-call:U]")
    assert split_marks(read).marks == ()
    (only,) = read_document(read)
    assert not list(calls_in((only,)))
    assert isinstance(only, Paragraph)
    assert "<!-- patchwright:state=done run=1 -->" in plain_text(only.children)


@given(st.lists(PIECES, max_size=20).map("".join))
def test_any_text_can_be_read(wiki: str) -> None:
    read = wiki_to_markdown(wiki)
    assert read.count("word") == wiki.count("word")


@pytest.mark.parametrize(
    "piece", ["*a ", "{{", "[~", "{code:x}", "{panel:x}", "{quote}", "!a|", "&", "#"]
)
def test_a_long_text_is_read_in_time(piece: str) -> None:
    assert wiki_to_markdown(piece * (32_000 // len(piece)))
