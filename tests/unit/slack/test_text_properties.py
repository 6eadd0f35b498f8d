"""What holds for every text that goes to Slack or comes from it."""

import re

from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.text.document.reader import read_document
from patchwright.integrations.slack.text.message_writer import SlackText, render
from patchwright.integrations.slack.text.mrkdwn import request_in, to_markdown
from tests.unit.slack.shown import code_in, texts_of
from tests.unit.text.documents import code_of, words_of

WORDS = st.text("abcxyzäß", min_size=1, max_size=8)
PIECES = st.sampled_from(
    [
        *("**b**", "*i*", "~~s~~", "`c <d>`", "``e`f``", "[l](https://a.b/?c&d)"),
        *("<@U1>", "<!here>", "<#C1|x>", "&lt;!channel&gt;", "<https://x|y>", "|", ">"),
        *("\n", "\n\n", "\n> ", "\n- ", "\n1. ", "\n# ", "\n---\n", "\n```\n", "\\*"),
        *("<sub>", "</sub>", "\n<details>\n\n", "\n</details>\n\n", "_", "*", "~", "`"),
        *("[@j](patchwright-call:U7)", "![p](https://a.b)", "\n|a|b|\n|-|-|\n|c|d|\n"),
    ]
)
MARKDOWN = st.lists(st.one_of(WORDS, PIECES, st.just(" "), st.text(max_size=4)))
CODE = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n"))
FENCE = "`" * 40


def all_texts(messages: tuple[SlackText, ...]) -> list[str]:
    return [text for one in messages for text in (one.text, *texts_of(one))]


@given(MARKDOWN.map("".join))
def test_no_text_calls_anybody_but_those_we_call(markdown: str) -> None:
    for text in all_texts(render(markdown)):
        left = re.sub(r"<https?://[^<>]+>|<@U7>", "", text)
        assert not re.search("<|(?m:(?<!^)>)", left)


@given(MARKDOWN.map("".join), st.integers(min_value=1, max_value=80))
def test_every_message_is_one_that_slack_takes(markdown: str, times: int) -> None:
    for message in render(f"{markdown}\n" * times):
        assert len(message.blocks) <= 50
        assert len(message.text) <= 4_000
        assert all(0 < len(text) <= 3_000 for text in texts_of(message))
        assert sum(map(len, texts_of(message))) <= 12_000


@given(MARKDOWN.map("".join))
def test_the_same_text_makes_the_same_messages(markdown: str) -> None:
    assert render(markdown) == render(markdown)


@given(CODE.filter(lambda code: "\u200b" not in code))
def test_code_reaches_slack_as_it_is(code: str) -> None:
    assert code_in(render(f"a\n\n{FENCE}\n{code}\n{FENCE}\n\nb")) == [code]


@given(CODE.filter(lambda code: "`" not in code and code.strip("\n") == code != ""))
def test_code_comes_from_slack_as_it_was_typed(code: str) -> None:
    escaped = code.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    read = to_markdown(f"see ```{escaped}``` there", names={}, own_id="UBOT")
    assert code_of(read_document(read)) == [code]
    assert words_of(read_document(read)) == ["see", "there"]


@given(st.lists(WORDS, min_size=1), st.lists(WORDS, min_size=1), WORDS)
def test_words_and_code_survive_the_way_to_slack_and_back(
    first: list[str], second: list[str], code: str
) -> None:
    markdown = (
        f"**{' '.join(first)}** `{code} < &`\n\n"
        f"- {' '.join(second)}\n\n```\n{code} &\n  > {code}\n```\n\n> {' '.join(first)}"
    )
    sent = "\n\n".join(text for one in render(markdown) for text in texts_of(one))
    back = read_document(to_markdown(sent, names={}, own_id="UBOT"))
    assert words_of(back) == words_of(read_document(markdown))
    assert code_of(back) == code_of(read_document(markdown))


@given(
    st.lists(st.one_of(WORDS, st.sampled_from(list("*_~`<>&!|\\[]()^: \n")))).map(
        "".join
    )
)
def test_no_word_from_slack_is_lost(typed: str) -> None:
    escaped = typed.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    read = to_markdown(escaped, names={}, own_id="UBOT")
    words = re.findall("[abcxyzäß]+", typed)
    assert re.findall("[abcxyzäß]+", read) == words
    assert re.findall("[abcxyzäß]+", request_in(f"<@UBOT> {escaped}", "UBOT")) == words


@given(st.text("`<>|@#!UBOT:/&;\n ab*\0"))
def test_text_that_slack_would_never_send_is_read_too(text: str) -> None:
    read = to_markdown(text, names={"U": "a"}, own_id="UBOT")
    assert "\0" not in read
    assert "\0" not in request_in(text, "UBOT")
