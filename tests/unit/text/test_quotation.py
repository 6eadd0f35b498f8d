"""Words of others are shown as theirs: no text ends its quotation, or does anything.

Held against GitHub's own renderer of Markdown, and ours for Slack and Jira.
"""

import json
import re
from time import process_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from patchwright.core.text.document.quotation import (
    inert_phrase,
    inert_prose,
    quoted,
    quoted_plain,
)
from patchwright.core.text.document.reader import read_document
from patchwright.core.text.document.types import BlockQuote, Paragraph
from patchwright.core.text.escape import (
    TextPlace,
    find_active,
    make_inert,
    make_inert_line,
)
from patchwright.integrations.jira.text.adf_writer import to_adf
from patchwright.integrations.jira.text.wiki_writer import to_wiki
from patchwright.integrations.slack.text.message_writer import render
from tests.unit.text.pages import Page

BLOCKS = (
    *("\n", "\n\n", "\r\n", "\u2028", "> ", ">", "- ", "* ", "1. ", "- [x] ", "\t"),
    *("    ", "# ", "### Evidence\n", "---\n", "===\n", "***\n", "~~~", "```\n"),
    *(
        "```math\n",
        "```suggestion\n",
        "| a | b |\n|---|---|\n",
        "| test | without the change | with it |\n|---|---|---|\n| t | 🔴 | 🟢 |\n",
        "<details open><summary>Evidence: 2 commands</summary>\n\n",
        "|",
        "[x]: https://e.v\n",
    ),
    *("[^1]: ", "<!--", "-->", "<details>\n", "</details>", "</blockquote>", "<div>"),
    *("<!channel>", "<!here|here>", "<@U3>", "<table><tr><td>", "> [!WARNING]\n> "),
    *("{quote}", "{code}", "{noformat}", "[~zoe]", "h1. ", "bq. ", "<script>"),
)
ACTIVE = (
    *("🟢 ", "🟡", "✅", ":green_circle:", ":white_check_mark:", "**Proven**: "),
    *("🔴 **Contradicted**: ", "❌ ", ":red_circle:", ":x:", "[ ] ❌ "),
    *("![x](https://e.v/?d=1)", "[x](https://e.v)", "<https://e.v>", "https://e.v/a "),
    *("![x][x]", "[x]", "[^1]", "www.e.v/x ", "<img src='https://e.v/x.png'>"),
    *("<a href=//e.v>", "bob@e.v ", "ftp://e.v ", "mailto:a@e.v ", "acme/x#5 "),
    *("@bob ", "@acme/security ", "@", "bob", "@dependabot merge", "`@claude fix` "),
    *("[skip ci]", "[ci skip]", "[", "skip", " ci]", "[no ci]", "***NO_CI***", "**"),
    *(
        "skip-checks: true",
        "fixes ",
        "Closes: ",
        "#1",
        "GH-5",
        "acme/secret#5",
        "resolved",
    ),
    *(
        "https://github.com/acme/secret/issues/5 ",
        "ENG-12 ",
        "PROJ-1 #close ",
        "#time 2h",
    ),
    *("/approve\n", "!merge\n", "bors r+\n", "Signed-off-by: L <l@k.org>\n"),
    *(
        "<!-- patchwright:state=plan-posted run=r1 -->",
        "patchwright-call:U3",
        "$x$",
        "$",
    ),
    *(
        "[…](https://e.v)",
        "[…]",
        "](patchwright-call:U3)",
        "<sub>run 1</sub>",
        "&lt;",
        "&#64;bob",
        "&#x1F7E2;",
    ),
)
INLINES = (
    *(
        "a ",
        "b c",
        ". ",
        " ",
        "`",
        "``",
        "*",
        "_",
        "~~",
        "\\",
        "]",
        "(",
        ")",
        "!",
        "<b>",
    ),
    *(
        "</b>",
        "<code>",
        "</code>",
        "<del>",
        "</del>",
        "<b></b>",
        "\u200b",
        "\u00ad",
        "\0",
    ),
    *("&amp;", "&nbsp;", "請", "\ud800"),
)
PIECES = st.sampled_from([*BLOCKS, *ACTIVE, *INLINES])
TEXTS = st.lists(PIECES, max_size=9).map("".join) | st.text(max_size=30)
BEFORE = "🟡 **Not proven**: nothing was run.\n\nThe agent wrote:"
AFTER = "### Evidence\n\n<sub>run 7f3a9c1e</sub>"
# What a quotation may consist of, and what is ours around it.
ALLOWED = {"blockquote", "p", "strong", "em", "code", "pre", "ul", "ol", "li", "br"}
OURS = {"h3", "sub"}
LINE_STARTS = re.compile(r"^(?!>|$)", re.MULTILINE)


def shown(text: str) -> str:
    return f"{BEFORE}\n\n{quoted(text)}\n\n{AFTER}"


@settings(max_examples=150)
@given(TEXTS)
def test_h2_no_text_ends_the_quotation_or_has_what_a_proof_has(text: str) -> None:
    page = Page(shown(text))
    ours = "".join(page.outside("blockquote").split())
    assert ours == "".join(Page(f"{BEFORE}\n\n{AFTER}").outside("x").split())
    assert page.elements <= ALLOWED | OURS
    theirs = Page(quoted(text))
    assert theirs.elements <= ALLOWED
    assert not re.search("[\U0001f7e0-\U0001f7eb\u2705]", quoted(text))
    assert not LINE_STARTS.search(quoted(text))


@settings(max_examples=150)
@given(TEXTS)
def test_h9_no_text_leads_anywhere(text: str) -> None:
    assert Page(shown(text)).addresses == []
    assert Page(f"- {inert_phrase(text)}").addresses == []
    assert Page(inert_prose(text)).addresses == []


@settings(max_examples=150)
@example("***\n***NO_CI******\n")
@given(TEXTS)
def test_m10_no_text_makes_a_service_act(text: str) -> None:
    for made in (quoted(text), inert_phrase(text), inert_prose(text)):
        assert find_active(made, TextPlace.CODE) == ()
        page = Page(made)
        assert [
            find_active(one) for one in page.outside_code() if find_active(one)
        ] == []
        assert "<!-- patchwright:" not in made
    for plain in (quoted_plain(text), make_inert_line(text)):
        assert find_active(plain, TextPlace.PLAIN) == ()


@settings(max_examples=150)
@example("patchwright-call:U3skip-checks: true")
@given(TEXTS)
def test_m10_what_is_harmless_stays_as_it_is(text: str) -> None:
    once = make_inert(text, TextPlace.PLAIN)
    assert make_inert(once, TextPlace.PLAIN) == once


@settings(max_examples=150)
@given(TEXTS)
def test_h2_slack_and_jira_show_a_quotation_that_does_nothing(text: str) -> None:
    markdown = shown(text)
    first, second, *rest = read_document(markdown)
    assert (type(first), type(second)) == (Paragraph, Paragraph)
    theirs = rest[:-2]
    assert all(isinstance(one, BlockQuote) and not one.alert for one in theirs)
    assert len(theirs) <= 1
    for message in render(markdown):
        sent = json.dumps([message.text, message.blocks])
        assert not re.search(r"<[!@#]|<https?:|<mailto:", sent)
    document = json.dumps(to_adf(markdown))
    assert not re.search(r'"type": "(?:mention|link|inlineCard|media\w*)"', document)
    assert "[~" not in to_wiki(markdown)


@pytest.mark.parametrize(
    "text",
    [
        "Use `list[int]` for snake_case, a * b, C:\\dir and $5.",
        "1. One\n2. Two\n   - x",
    ],
)
def test_usual_words_read_as_they_were_written(text: str) -> None:
    def plain(markdown: str) -> str:
        return Page(markdown).outside("x")

    assert plain(quoted(text)).split() == plain(text).split()
    assert Page(quoted(text)).elements - {"blockquote"} == Page(text).elements


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Fix UTF-8 decoding in list[int]", "Fix UTF-8 decoding in list[int]"),
        ("Fix it [skip ci] fixes #1", "Fix it (skip ci) fixes # 1"),
        ("Closes acme/secret#5", "Closes acme/secret# 5"),
        ("cc @bob @acme/security", "cc @ bob @ acme/security"),
        ("See https://evil.example/?d=1", "See hxxps://evil.example/?d=1"),
        ("Fixes AB#123", "Fixes AB# 123"),
        ("Completes ENG-12, closes eng-12", "Completes ENG- 12, closes eng- 12"),
        ("finishes #5, reopens GH-6", "finishes # 5, reopens GH- 6"),
        ("Fix utf-8, close the top-10", "Fix utf-8, close the top-10"),
        ("[skip cloudbuild] [ci skip:]", "(skip cloudbuild) (ci skip:)"),
        ("/approve", '"/approve"'),
        ("🟢 Proven", "· Proven"),
    ],
)
def test_m10_a_title_says_the_same_and_does_nothing(text: str, line: str) -> None:
    assert make_inert_line(text) == line


@pytest.mark.parametrize(
    "piece",
    [
        *("[", "![", "[a](", "<", "`", "*a", "_", "@a ", "A", "#", "fixes ", ":x", "~"),
        *("- ", "[skip ", "PROJ-1 #", "https://a/", "a-", "> ", "&", "1.", "|", "\\"),
        *("a@b.", "<b>", "x.", "\n", "a\n", "{", "\u200b"),
    ],
)
def test_no_long_text_takes_long(piece: str) -> None:
    text = piece * (30_000 // len(piece))
    begun = process_time()
    quoted(text)
    make_inert_line(text)
    assert process_time() - begun < 2.0


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Signed-off-by: Linus <l@k.org>", "Signed-off-by - Linus <l@k.org>"),
        ("Co-authored-by: Carol <c@k.org>", "Co-authored-by - Carol <c@k.org>"),
        ("cc: bob", "cc - bob"),
        ("bors r+", '"bors" r+'),
        ("  lgtm", '  "lgtm"'),
        ("!merge", '"!merge"'),
        ("skip-checks: true", "skip-checks true"),
        ("***NO_CI***", "***NO-CI***"),
        ("PROJ-1 #close #time 2h", "PROJ-1 # close # time 2h"),
        ("This does not fix #1", "This does not fix # 1"),
    ],
)
def test_m10_the_message_of_a_commit_says_the_same_and_does_nothing(
    text: str, line: str
) -> None:
    assert make_inert(f"Fix it\n\n{text}", TextPlace.PLAIN) == f"Fix it\n\n{line}"
    assert quoted_plain(f"Said:\n{text}") == f"> Said:\n> {line}"


@pytest.mark.parametrize("bot", ["dependabot merge", "claude fix", "Copilot review"])
def test_m10_bots_that_read_code_too_are_not_called_in_it(bot: str) -> None:
    assert f"@{bot}" not in quoted(f"See `@{bot}`.\n\n```\n@{bot}\n```")
    assert "`@pytest.fixture`" in quoted("See `@pytest.fixture`.")
