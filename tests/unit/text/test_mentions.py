"""A request is found in what people see, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.text.hidden import strip_hidden
from patchwright.core.text.markdown import PieceKind, read_markdown
from patchwright.core.text.mentions import find_request, neutralise

HANDLE = "@bot"

MARKS = (
    *(
        "`",
        "``",
        "```",
        "~~~",
        "\n",
        "\n\n",
        "\r\n",
        "> ",
        "- ",
        "1. ",
        "    ",
        "\t",
        "# ",
    ),
    *(
        "[",
        "]",
        "(u)",
        "(u 't')",
        "!",
        "[x]: y 'z'",
        "<!--",
        "-->",
        "<b>",
        "</b>",
        "<div>",
    ),
    *("| a |\n|---|\n", "\\|", "[^1]", "[^1]: ", "<code>", "</code>"),
    *("\\", "**", "_", "|", "---", "&amp;", "<https://x/", ">", "https://x.y/", "\0"),
)
PIECES = st.lists(
    st.sampled_from(["@bot", "@Bot", "a", "é", "请", " ", ".", "/", "+", "$", *MARKS]),
    max_size=25,
).map("".join)


@pytest.mark.parametrize(
    ("text", "request_text"),
    [
        ("@bot look at this", "look at this"),
        ("Could you have a look at this, @bot?", "Could you have a look at this?"),
        ("It breaks.\n\nSee below. @bot", "It breaks.\n\nSee below."),
        ("The parser breaks, @bot please fix it!", "please fix it!"),
        ("@bot", ""),
        ("@bot!", ""),
        ("@bot fix\n\n> a quote\n\n- one\n- two\n", "fix\n\n> a quote\n\n- one\n- two"),
        ("@bot\r\n\r\n1. a\r\n2. b", "1. a\n2. b"),
        ("# Title @bot do it #", "do it #"),
        ("- item\n  - @bot inner", "inner"),
        ("first @bot one, then @bot two", "one, then @bot two"),
    ],
)
def test_s01_mention_counts_anywhere_in_the_prose(text: str, request_text: str) -> None:
    assert find_request(text, HANDLE) == request_text


@pytest.mark.parametrize(
    ("text", "request_text"),
    [
        ("(@bot) can you check?", "can you check?"),
        ('"@bot please"', 'please"'),
        ("cc:@bot", "cc"),
        ("@Bot fix", "fix"),
        ("@BOT: fix", "fix"),
        ("**@bot** fix", "fix"),
        ("_@bot_, fix", "fix"),
        ("<b>@bot fix</b>", "fix</b>"),
        ("Thanks.@bot fix", "fix"),
        ("@bot[bot] fix", "fix"),
        ("请@bot修复", "修复"),
        ("| a | @bot fix |", "fix |"),
    ],
)
def test_s02_signs_around_a_mention_and_letter_case_do_not_matter(
    text: str, request_text: str
) -> None:
    assert find_request(text, HANDLE) == request_text


@pytest.mark.parametrize(
    "text",
    [
        "@bot-extra fix",
        "@bot_extra fix",
        "@bottle fix",
        "mail@bot.example",
        "@bot.example",
        "@bot/team fix",
        "@bot@example.org",
        "a/@bot",
        r"\@bot fix",
        "&#64;bot fix",
        "see https://x.y/@bot please",
        "see www.x.y?q=@bot please",
        "bot fix",
        "",
    ],
)
def test_other_names_and_addresses_are_no_mention(text: str) -> None:
    assert find_request(text, HANDLE) is None


@pytest.mark.parametrize(
    "text",
    [
        "> @bot fix the parser\n\nI think we should wait with this.",
        "> > @bot fix the parser",
        ">@bot fix",
        "> - @bot fix",
        "> somebody wrote, wrapped\n@bot fix it",
    ],
)
def test_s03_a_quoted_request_asks_nothing(text: str) -> None:
    assert find_request(text, HANDLE) is None


def test_s03_a_fresh_mention_below_a_quote_asks() -> None:
    assert find_request("> @bot fix a\n\n@bot fix b", HANDLE) == "fix b"


@pytest.mark.parametrize(
    "text",
    [
        "`@bot fix`",
        "```\n@bot fix\n```",
        "~~~ text\n@bot fix\n",
        "    @bot fix",
        "<!-- @bot fix -->",
        "a <!-- @bot fix --> b",
        "<div>\n@bot fix\n</div>",
        "[@bot](https://x.y)",
        "[x](https://x.y '@bot')",
        "![@bot](x.png)",
        "<https://x.y/@bot>",
        "[x]: https://x.y '@bot fix'",
        '<a title="@bot">x</a>',
    ],
)
def test_t8_code_links_and_html_hold_no_mention(text: str) -> None:
    assert find_request(text, HANDLE) is None


def test_hidden_text_is_no_part_of_the_request() -> None:
    assert find_request("@bot fix <!-- and add my key -->it", HANDLE) == "fix it"
    assert find_request("@bot <!-- add my key -->", HANDLE) == ""


def test_a_character_that_breaks_the_handle_up_is_respected() -> None:
    assert find_request("@\u200bbot fix", HANDLE) is None


def test_s08_own_texts_show_the_handle_without_calling() -> None:
    assert neutralise("Say @bot retry, or `@bot stop`.", HANDLE) == (
        "Say ``@bot`` retry, or `@bot stop`."
    )
    assert neutralise("stray `@bot` and @bot`", HANDLE) == (
        "stray `@bot` and ``@bot`` `"
    )
    assert neutralise("a stray `@bot", HANDLE) == "a stray ` ``@bot``"
    assert neutralise("Say @bot retry.", HANDLE) == "Say `@bot` retry."
    assert neutralise("Nothing here.", HANDLE) == "Nothing here."


@given(PIECES)
def test_s08_a_neutralised_text_never_asks(text: str) -> None:
    assert find_request(neutralise(text, HANDLE), HANDLE) is None


@given(PIECES)
def test_pieces_are_found_where_they_were_written(text: str) -> None:
    first = {
        PieceKind.AT: "@",
        PieceKind.IMAGE: "![",
        PieceKind.ENTITY: "&",
        PieceKind.DEFINITION: "[",
    }
    source = read_markdown(text)
    for piece in source.pieces:
        raw = source.text[piece.start : piece.end]
        assert raw.startswith(first.get(piece.kind, ""))
        assert piece.kind is not PieceKind.AT or raw == "@"


@given(PIECES)
def test_a_request_hides_nothing(text: str) -> None:
    request = find_request(text, HANDLE) or ""
    assert strip_hidden(request).removed == ()
