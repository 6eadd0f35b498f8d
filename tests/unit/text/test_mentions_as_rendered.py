"""A request is found where GitHub's own renderer shows the mention as prose."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from patchwright.core.text.mentions import find_request
from tests.unit.text.rendering import is_prose

HANDLE = "@bot"

BLOCKS = (
    *("\n", "\n\n", "\r\n", "> ", ">", "- ", "* ", "1. ", "2) ", "\n- [ ] a "),
    *("    ", "\t", "  ", "# ", "## ", "---\n", "===\n"),
    *("```", "```\n", "~~~\n", "~~~ x\n"),
    *("| a | b |\n| --- | - |\n", "| a |\n|---|\n", "|", " |\n| "),
    *("\n[x]: y\n\n", "\n[x]: y 'z'\n\n", "[^1]: ", "[^1]: a\n"),
    *("<!--", "<!-- c -->", "<div>", "</div>", "<details>\n", "</details>\n"),
    *("<blockquote>", "</blockquote>", "<pre>", "</pre>"),
)
INLINES = (
    *("a ", "b c\n", "a. ", " ", "請", "`", "``", "**", "*", "_", "~~", "\\"),
    *("[", "]", "](u)", "](u 't')", "[x]", "![", "[^1]", "-->"),
    *("<b>", "</b>", "<code>", "</code>", "<a href='x'>", "</a>"),
    *("&amp;", "&lt;", "<https://x/>", "https://x.y/ ", "www.a.b "),
)
MENTIONS = (
    *("@bot ", "@bot\n", "@bot, ", " @bot ", "\n@bot ", "(@bot) ", "**@bot** "),
    *("https://x.y?@bot ", "www.a.b?@bot ", "<https://x/>@bot "),
)
MARKS = st.lists(st.sampled_from([*BLOCKS, *INLINES]), max_size=7).map("".join)

# Where the renderer differs from what is written down, ours keeps to the latter.
ODDITIES = (
    # A sign that was escaped is shown, and was meant not to call.
    r"\\@",
    # Such a tag on a line of its own begins HTML after a table or a lazy line, though
    # it cannot interrupt a paragraph. https://spec.commonmark.org/0.31.2/#html-blocks
    r"[^\n]\r?\n[ \t>|]*(?:</?[bs]>|</?code>|<a [^>]*>|</a>|</pre>)[ \t|]*\r?\n",
    # An indented line after a table is code, and there it is a row.
    r"\|[^\n]*\n(?: {4}|\t)",
    # A line of one bar ends a table there, and is an empty row of it here.
    r"\n[ \t]*\|[ \t]*\n",
    # A bar begins a cell, and before an address that is told only by a table.
    r"\|www\.",
    # In a bracket that may become a link no address is made one.
    r"\[[\s\S]*(?:https?://|www\.)\S*@bot",
    # Footnotes are shown at the end: out of the quote or the other footnote that they
    # were written in, and apart from raw HTML around them.
    r"(?:>|\[\^1\]:)[^\n]*\[\^1\]:",
    r"\[\^1\]:[\s\S]*<",
    # Raw HTML may close the quote that it is written in.
    r">[^\n]*</blockquote>",
    # A paragraph is looked at once for a table there.
    r"-[ ]*\|\s[\s\S]*-[ ]*\|",
    # Comments of no more than their marks were none in older versions of the rules.
    r"<!--+>",
)
ODD = re.compile("|".join(ODDITIES))


# Oddities are rare and many: what holds here must not fail elsewhere for a new one.
@settings(max_examples=1500, derandomize=True)
@given(MARKS, st.sampled_from(MENTIONS), MARKS)
def test_t8_a_mention_counts_where_it_is_shown_as_prose(
    before: str, mention: str, after: str
) -> None:
    text = before + mention + after
    at = text.index(HANDLE)
    assume(not re.match(r"[A-Za-z0-9_]", text[at - 1 : at]))
    assume(not ODD.search(text))
    assert (find_request(text, HANDLE) is not None) == is_prose(text, HANDLE)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("| a | b |\n|---|---|\n| `x | @bot y` |", True),
        ("| a |\n|---|\n| `@bot` |", False),
        ("| a \\| @bot | b |\n|---|---|", True),
        ("> a | b\n|---|---|\n| @bot | x |", False),
        ("Text[^1]\n\n[^1]: @bot look", True),
        ("Text\n\n[^1]: @bot look", False),
        ("Text[^1]\n\n[^1]: a\n\n    @bot look", True),
        ("Text\n\n[^1]: a\n\n@bot look", True),
        ("Text[^1]\n\n[^1]: `@bot`", False),
        ("<code>@bot</code>", False),
        ("<code>x</code> @bot", True),
        ("<blockquote>\n\n@bot fix\n\n</blockquote>\n\nNo.", False),
        ("<blockquote>\n\nfix\n\n</blockquote>\n\n@bot yes", True),
        ("<details>\n\n@bot fix\n\n</details>", True),
        ("> <!-- a\n\n@bot fix", False),
        ("- <!-- a\n\n<!-- b -->\n\n@bot fix", True),
        ("Text[^1]\n\n[^1]: * \t@bot indented code", False),
        ("Text[^1]\n\n[^1]: a\n[^1]: @bot again", False),
        ("<https://x/>@bot fix", True),
        ("https://x/?a&amp;@bot fix", False),
        ("xwww.a.b?q=@bot fix", True),
    ],
)
def test_t8_a_mention_counts_where_it_is_shown(text: str, counts: bool) -> None:  # noqa: FBT001 - an example's outcome
    assert (find_request(text, HANDLE) is not None) is counts
    assert is_prose(text, HANDLE) is counts
