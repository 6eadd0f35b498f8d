"""Our Markdown as messages of Slack."""

import re

import pytest

from patchwright.core.text.escape import mention_link
from patchwright.integrations.slack.text.message_writer import SlackText, render
from tests.unit.slack.shown import code_in, texts_of


def shown(markdown: str) -> str:
    (message,) = render(markdown)
    return "\n".join(texts_of(message)).replace("\u200b", "")


def test_s71_markdown_is_not_shown_raw() -> None:
    text = "**Done.** See [the pull request](https://a.b/c?d=1&e=2), *really*.\n~~no~~"
    expected = (
        "*Done.* See <https://a.b/c?d=1&amp;e=2|the pull request>, _really_.\n~no~"
    )
    assert shown(text) == expected
    assert render(text)[0].text == expected


@pytest.mark.parametrize(
    ("markdown", "mrkdwn"),
    [
        ("# A *b*", "*A _b_*"),
        ("**a\nb**", "*a*\n*b*"),
        ("a**b**c", "abc"),
        ("***a***", "*_a_*"),
        ("- a\n  - b\n    - c\n- d", "• a\n    ◦ b\n        ▪ c\n• d"),
        ("2. a\n3. b", "2. a\n3. b"),
        ("- [x] a\n- [ ] b", "☑ a\n☐ b"),
        ("> a\n>\n> b", "> a\n>\n> b"),
        ("> [!WARNING]\n> **a**", "> ⚠️ *a*"),
        ("<details><summary>a</summary>\n\nb\n\n</details>", "*a*\n\nb"),
        ("![chart](https://a.b)", "<https://a.b|chart>"),
        ("https://a.b/c", "<https://a.b/c>"),
        ("https://a.b/x|y", "<https://a.b/x%7Cy>"),
        ("[a](docs/b.md)", "a (docs/b.md)"),
        ("`a & b`", "`a &amp; b`"),
        ("``a`b``", "```a`b```"),
        ("```py\na\n\n  b\n```", "```\na\n\n  b\n```"),
        ("- ```\n  a\n  ```", "•\n```\na\n```"),
        ("a b &amp; c", "a b &amp; c"),
        ("<!-- patchwright:state=done run=x -->\n\na", "a"),
    ],
)
def test_each_part_has_its_form_in_slack(markdown: str, mrkdwn: str) -> None:
    assert shown(markdown) == mrkdwn


def test_a_narrow_table_is_drawn() -> None:
    table = "| | command | exit |\n|-|-|-|\n| after | `pytest` | 🟢 0 |"
    drawn = (
        "       command  exit",
        "-----  -------  ----",
        "after  pytest   🟢 0",
    )
    assert code_in(render(table)) == ["\n".join(drawn)]


def test_a_table_with_links_or_long_cells_is_a_list() -> None:
    table = "| | what | exit |\n|-|-|-|\n| after | [run](https://a.b) | 0 |"
    assert shown(table) == "• after · *what*: <https://a.b|run> · *exit*: 0"
    long = f"| | what |\n|-|-|\n| a | `{'x' * 80}` |"
    assert shown(long) == f"• a · *what*: `{'x' * 80}`"


def test_small_print_and_rules_are_blocks_of_their_own() -> None:
    (message,) = render("a\n\n---\n\n<sub>b **c**</sub>")
    kinds = [block["type"] for block in message.blocks]
    assert kinds == ["section", "divider", "context"]
    assert texts_of(message) == ["a", "b *c*"]


def test_only_a_call_calls_somebody() -> None:
    assert shown(f"{mention_link('jane', 'U123')}: done") == "<@U123>: done"
    assert shown(mention_link("jane", "jane.doe")) == "@jane"


@pytest.mark.parametrize(
    "markdown",
    [
        "<@U1> <!channel> <#C1> <!subteam^S1> <https://a.b|a>",
        "&lt;!here&gt; &lt;@U1>",
        "`<!here>` ``<@U1> ` <!here>``",
        "```\n<!here>\n```",
        "[<!here>](https://a.b) [x|<@U1>](https://a.b)",
        "[a](<https://a.b/x|y> <!here>>)",
        "[a](<https://a.b/x><!here>)",
        "[a](<!here>)",
        "![<!here>](https://a.b)",
        "|a|\n|-|\n|<!here>|",
        "# <!here>",
        "<details><summary><!here></summary>\n\n<!here>\n\n</details>",
        "[a](patchwright-call:U1><!here>)",
    ],
)
def test_nothing_that_is_typed_calls_anybody(markdown: str) -> None:
    for message in render(markdown):
        for text in (message.text, *texts_of(message)):
            sequences = re.findall("<[^>]*", text)
            assert all(one.startswith("<https://a.b") for one in sequences)
            assert text.count(">") == len(sequences)


def test_names_in_a_text_are_not_turned_into_calls_by_slack() -> None:
    (message,) = render("@here #general")
    assert message.blocks == (
        {
            "type": "section",
            "text": {"type": "mrkdwn", "text": "@here #general", "verbatim": True},
        },
    )


@pytest.mark.parametrize(
    ("markdown", "marks"),
    [("\\*a\\*", "*"), ("\\_\\_init\\_\\_", "_"), ("\\~a\\~", "~"), ("\\`a\\`", "`")],
)
def test_a_sign_in_the_text_formats_nothing(markdown: str, marks: str) -> None:
    (message,) = render(markdown)
    assert not re.search(rf"(?:\A|\s)[{marks}]\S", message.text)


def test_a_sign_that_quotes_is_only_text() -> None:
    (message,) = render("&gt; a")
    assert message.text == "\u200b&gt; a"


def test_names_with_underscores_can_be_copied() -> None:
    assert render("snake_case_name 2 + 2")[0].text == "snake_case_name 2 + 2"


def test_a_long_code_block_is_closed_and_opened_again() -> None:
    code = "\n".join(f"line {number} <&>" for number in range(900))
    messages = render(f"before\n\n```\n{code}\n```\n\nafter")
    assert len(messages) > 1
    assert "\n".join(code_in(messages)) == code


def test_a_long_line_is_cut_between_words_and_keeps_its_look() -> None:
    messages = render(f"**{'word & ' * 2_000}end**")
    texts = [text for message in messages for text in texts_of(message)]
    lines = [line for text in texts for line in text.split("\n")]
    assert len(lines) > 1
    assert all(re.fullmatch(r"\*(?:word &amp; ?)*(?:end)?\*", line) for line in lines)


def test_no_message_has_more_blocks_than_slack_takes() -> None:
    messages = render("a\n\n---\n\n" * 60)
    assert len(messages) > 1
    assert all(len(message.blocks) <= 45 for message in messages)


def test_a_link_too_long_for_slack_leaves_its_words() -> None:
    assert shown(f"[a](https://a.b/{'x' * 3_000})") == "a"


def test_the_text_without_blocks_is_short_and_whole() -> None:
    message = render("```\n" + "x = 1\n" * 1_500 + "```")[0]
    assert len(message.text) <= 4_000
    assert message.text.count("```") % 2 == 0
    assert message.text.endswith("…")


@pytest.mark.parametrize("markdown", ["", "<!-- x -->", "---", "\n"])
def test_nothing_to_show_is_still_a_message(markdown: str) -> None:
    assert render(markdown) == (SlackText("…"),)
