"""A text that is too long for Jira loses what matters least."""

import json

import pytest

from patchwright.integrations.jira.text.adf_writer import to_adf
from patchwright.integrations.jira.text.layout import length_in_jira
from patchwright.integrations.jira.text.wiki_writer import to_wiki
from tests.unit.jira.adf_rules import broken_rules

LIMIT = 32_767
LONG_CODE = "```\nfirst line\n" + "x = '[y]'\n" * 8_000 + "last line\n```"
TEXTS = {
    "code": f"**Done**\n\n{LONG_CODE}\n\nthe end",
    "fold": "**Done**\n\n<details><summary>Log</summary>\n\n"
    + "a long story {x}\n\n" * 4_000
    + "</details>\n\nthe end",
    "table": "**Done**\n\n| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 6_000 + "\nthe end",
    "list": "**Done**\n\n" + "- entry\n" * 6_000 + "\nthe end",
    "paragraph": "**Done**\n\n" + "word *x* " * 4_000 + "\n\nthe end",
    "lines": "**Done**\n\n" + "line\n" * 8_000 + "\nthe end",
    "blocks": "**Done**\n\n" + "## h\n\ntext\n\n" * 3_000 + "\nthe end",
    "signs": "**Done**\n\n" + "\\|" * 90_000 + "\n\nthe end",
    "pictograms": "**Done**\n\n" + "🚀" * 30_000 + "\n\nthe end",
}


@pytest.mark.parametrize("name", TEXTS)
def test_head_and_tail_stay_within_the_limit(name: str) -> None:
    wiki, document = to_wiki(TEXTS[name]), to_adf(TEXTS[name])
    adf = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    assert list(broken_rules(document)) == []
    assert length_in_jira(wiki) <= LIMIT
    assert length_in_jira(adf) <= LIMIT
    for written in (wiki, adf):
        assert "Done" in written
        assert "the end" in written
        assert "[..." in written.replace("\\[", "[")


def test_jira_counts_units_of_utf_16() -> None:
    assert length_in_jira("🚀é") == 3


def test_what_is_not_code_stays_whole_while_code_can_be_cut() -> None:
    words = "every word of this counts " * 300
    wiki = to_wiki(f"{words}\n\n{LONG_CODE}\n\n{words}")
    assert wiki.count("every word of this counts") == 600
    assert "first line" in wiki
    assert "last line" in wiki


def test_whatever_cannot_be_divided_is_cut_as_words() -> None:
    row = "|" + " cell |" * 5_000
    wiki = to_wiki(f"{row}\n{'|-' * 5_000}|\n{row}")
    assert length_in_jira(wiki) <= LIMIT
    assert "characters cut" in wiki


def test_a_text_that_fits_is_not_touched() -> None:
    text = "a " * 16_000
    assert to_wiki(text).count("a") == 16_000
