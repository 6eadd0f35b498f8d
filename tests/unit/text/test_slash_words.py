"""A word with a slash calls the bot as a name with an @ does, and paths do not."""

import pytest

from patchwright.core.text.mentions import find_request, neutralise


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("/exp do it", "do it"),
        ("/EXP: do it", "do it"),
        ("Could you look, (/exp)", "Could you look"),
        ("/exp one\r\n/exp two", "one\n/exp two"),
    ],
)
def test_s06_the_mention_is_found_where_people_see_it(text: str, request_: str) -> None:
    assert find_request(text, "/exp") == request_


@pytest.mark.parametrize(
    "text",
    [
        "`/exp do it`",
        "> /exp do it",
        "see docs/exp for it",
        "see ./exp",
        "/exp/config.yml",
        "/experiment",
        "/exp-two do it",
        "https://example.com/exp do it",
        "[here](/exp)",
        "<a>/exp do it</a>",
        "@exp do it",
    ],
)
def test_s06_other_words_and_paths_are_no_mention(text: str) -> None:
    assert find_request(text, "/exp") is None


def test_s06_the_bots_own_texts_do_not_contain_the_mention() -> None:
    said = neutralise("reply /exp stop, or see a/exp", "/exp")
    assert said == "reply `/exp` stop, or see a/exp"
    assert find_request(said, "/exp") is None
