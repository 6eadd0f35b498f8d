"""What people write in Slack, as Markdown."""

import pytest

from patchwright.core.text.hidden import strip_hidden
from patchwright.integrations.slack.text.mrkdwn import (
    mentions_us,
    people_in,
    request_in,
    to_markdown,
)

NAMES = {"U2": "Jane Doe", "W3": "Max"}


def markdown(text: str) -> str:
    return to_markdown(text, names=NAMES, own_id="UBOT")


def test_s70_the_agent_sees_what_was_typed() -> None:
    text = (
        "<@UBOT> fix <https://github.com/acme/web/issues/5|#5> "
        "when a &lt; b &amp;&amp; c"
    )
    seen = "fix https://github.com/acme/web/issues/5 (#5) when a < b && c"
    assert markdown(text) == seen
    assert request_in(text, "UBOT") == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("<@U2> and <@W3>", "@Jane Doe and @Max"),
        ("<@U9>, <@U9|kim>", "@U9, @kim"),
        ("<#C1|general> <#C1>", "#general #C1"),
        ("<!here> <!channel> <!everyone|everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@web> <!subteam^S1>", "@web @S1"),
        ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
        ("<http://www.example.com|www.example.com>", "www.example.com"),
        ("<https://example.com/|example.com>", "example.com"),
        ("<https://example.com/?a=1&amp;b=2>", "https://example.com/?a=1&b=2"),
        ("<mailto:a@b.c|a@b.c> <mailto:a@b.c>", "a@b.c a@b.c"),
        ("<mailto:a@b.c|write>", "mailto:a@b.c (write)"),
        ("&amp;lt; is &lt;", "\\&lt; is <"),
    ],
)
def test_s70_text_that_slack_rewrote_is_restored(text: str, seen: str) -> None:
    assert markdown(text) == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("*a b* _c_ ~d~", "**a b** _c_ ~~d~~"),
        ("2*3*4 a*b *c", "2*3*4 a*b *c"),
        ("*see <https://a.b|this>*", "**see https://a.b (this)**"),
        ("**a**", "**a**"),
        ("`a &lt; *b*`", "`a < *b*`"),
        ("`see <http://a.b|a.b> <@U2>`", "`see a.b @Jane Doe`"),
        ("```\na\n  &lt;*b*\n```", "```\na\n  <*b*\n```"),
        ("see ```a``` ok", "see\n```\na\n```\nok"),
        ("&gt; ```a```", "> ```\n> a\n> ```"),
        ("&gt; a\nb", "> a\n\nb"),
        ("&gt;&gt;&gt; a\nb", "> a\n> b"),
        ("• a\n    ◦ b", "- a\n    - b"),
    ],
)
def test_formatting_becomes_markdown(text: str, seen: str) -> None:
    assert markdown(text) == seen


@pytest.mark.parametrize(
    "typed",
    [
        "&lt;div hidden&gt;x&lt;/div&gt;",
        "&lt;!-- x --&gt;",
        "\\&lt;!-- x --&gt;",
        "&amp;#8203;x",
        "[x]: https://a.b",
        "- [x]: https://a.b",
        "[^x]: y",
        "![do as I say](https://a.b)",
    ],
)
def test_what_people_see_in_slack_is_hidden_from_nobody(typed: str) -> None:
    assert strip_hidden(markdown(typed)).removed == ()


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("<@UBOT>", ""),
        ("<@UBOT|bot>: go", "go"),
        ("Can <@UBOT> help?", "Can help?"),
        ("ok\n<@UBOT>, go", "ok\ngo"),
    ],
)
def test_s70_our_own_mention_is_left_out(text: str, seen: str) -> None:
    assert markdown(text) == seen


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("<@UBOT> fix it", "fix it"),
        ("hey <@UBOT>, fix it", "fix it"),
        ("*<@UBOT>:* fix *it*", "fix **it**"),
        ("Could you look at this, <@UBOT>?", "Could you look at this?"),
        ("<@UBOT> ask <@U2>", "ask @U2"),
        ("`<@UBOT>` <@UBOT> go", "go"),
        ("fix it", "fix it"),
        ("<@UBOT>!", ""),
    ],
)
def test_a_request_follows_our_mention_or_stands_before_it(
    text: str, request_: str
) -> None:
    assert request_in(text, "UBOT") == request_


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("hi <@UBOT|bot>", True),
        ("&gt; old\n<@UBOT>", True),
        ("hi <@UBOTX> <@U2>", False),
        ("hi @UBOT &lt;@UBOT&gt;", False),
        ("`<@UBOT>`", False),
        ("```\n<@UBOT>\n```", False),
        ("&gt; <@UBOT> go", False),
        ("&gt;&gt;&gt; a\n<@UBOT> go", False),
        ("", False),
    ],
)
def test_quoting_or_showing_a_mention_is_not_asking(
    text: str, *, is_asked: bool
) -> None:
    assert mentions_us(text, "UBOT") is is_asked


def test_without_an_id_of_our_own_nothing_mentions_us() -> None:
    assert not mentions_us("<@> <@U1>", "")


def test_people_are_those_whose_names_are_needed() -> None:
    text = "<@U1> <@W2|x> `<@U3>` &lt;@U4&gt; <#C5> <!here>"
    assert people_in(text) == {"U1", "W2", "U3"}


def test_a_name_brings_no_markup_with_it() -> None:
    names = {"U1": "<!-- a\n-->", "U2": "![x](y)"}
    read = to_markdown("<@U1> <@U2>", names=names, own_id="")
    assert strip_hidden(read).removed == ()
    assert "\n" not in read


@pytest.mark.parametrize(
    "text",
    [
        *("`" * 20_000, "```a" * 9_999, "*a " * 13_000, "~" * 40_000, "<" * 40_000),
        *(
            "\\" * 40_000,
            "&gt;" * 10_000,
            "<@UBOT>" * 5_000,
            " " * 40_000,
            "[" * 40_000,
        ),
        *("<@U1|" * 8_000, "&amp;" * 8_000, "!\\[" * 13_000, "- " * 20_000),
    ],
    ids=lambda text: text[:5],
)
def test_the_longest_text_is_read_at_once(text: str) -> None:
    assert isinstance(markdown(text), str)
    assert isinstance(request_in(text, "UBOT"), str)
