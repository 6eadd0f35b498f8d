"""What we write reaches Jira as it is meant, and as nothing else."""

import json
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.text.document.reader import read_document
from patchwright.core.text.document.types import (
    BlockQuote,
    Blocks,
    CodeBlock,
    Details,
    ListBlock,
    Paragraph,
    PlainText,
)
from patchwright.core.text.escape import mention_link
from patchwright.integrations.jira.text.adf_reader import adf_blocks, adf_to_markdown
from patchwright.integrations.jira.text.adf_writer import to_adf
from patchwright.integrations.jira.text.layout import text_of_blocks
from patchwright.integrations.jira.text.markdown_writer import write_markdown
from patchwright.integrations.jira.text.wiki_reader import wiki_blocks, wiki_to_markdown
from patchwright.integrations.jira.text.wiki_writer import to_wiki
from tests.unit.jira.adf_rules import broken_rules, nodes_of
from tests.unit.jira.called import calls_in

# How a data center finds whom to tell about a text: in its source, code or not.
FINDS_CALLS = re.compile(r"\[[~@][^\\,]+?\]")
PIECES = st.sampled_from(
    [
        *("h1. ", "bq. ", "{code}", "{noformat}", "{quote}", "{panel}", "[~ann]"),
        *("[@ann]", "!a.png!", "----", "- ", "* ", "# ", "1. ", "> ", "```", "**a**"),
        *("`x`", "<b>", "<details>", "</details>", "<summary>s</summary>", "||", "\n"),
        *("\n\n", "|a|b|\n|-|-|\n|c|d|", "&#91;", "&amp;", "https://a.b/c_d", "word"),
        *("[x](https://a.b)", "~~s~~", "<sub>z</sub>", ":)", "\\", "snake_case", "@b"),
        *("> [!NOTE]\n> n", "- [ ] t\n", "    ", "é☑", "*_{}#+-.!|~^?@:;&<>\"'/=%"),
    ]
)
MARKDOWN = st.lists(PIECES, max_size=12).map("".join)
CODE = st.text(
    st.sampled_from("ab \n\t*_{}[]()#+-.!|~^?@:;&<>\\\"'é"), min_size=1, max_size=40
).filter(lambda code: code.strip() == code)


def squeezed(text: str) -> str:
    return re.sub(r"[\s\u200b]+", "", text)


def code_in(blocks: Blocks) -> Iterator[str]:
    for block in blocks:
        match block:
            case CodeBlock(text):
                yield text
            case BlockQuote(inner) | Details(_, inner):
                yield from code_in(inner)
            case ListBlock(items):
                for item in items:
                    yield from code_in(item.blocks)
            case _:
                pass


@given(MARKDOWN)
def test_every_document_keeps_the_rules_of_adf(markdown: str) -> None:
    assert list(broken_rules(to_adf(markdown))) == []


OUTER = {
    "quote": "> {}",
    "alert": "> [!TIP]\n> {}",
    "entry": "- {}",
    "fold": "<details><summary>s</summary>\n\n{}\n\n</details>",
}
INNER = {
    "heading": "# h",
    "quote": "> q",
    "alert": "> [!CAUTION]\n> c",
    "table": "| a | b |\n| - | - |\n| 1 | |",
    "rule": "***",
    "tasks": "- [ ] t\n  - [x] u",
    "code": "```\nc\n```",
    "fold": OUTER["fold"].format("x"),
    "styles": "**a __b__ *`c`* ~~**d**~~**",
    "nothing": "",
}


def put(inner: str, outer: str) -> str:
    indent = {"quote": "> ", "alert": "> ", "entry": "  ", "fold": ""}[outer]
    return OUTER[outer].format(inner.replace("\n", f"\n{indent}"))


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("outer", OUTER)
def test_anything_may_be_in_anything(outer: str, inner: str) -> None:
    once = put(INNER[inner], outer)
    for markdown in (INNER[inner], once, *(put(once, around) for around in OUTER)):
        assert list(broken_rules(to_adf(markdown))) == []


@given(MARKDOWN)
def test_nothing_typed_calls_anybody(markdown: str) -> None:
    wiki = to_wiki(markdown)
    assert not FINDS_CALLS.search(wiki)
    assert not list(calls_in(wiki_blocks(wiki)))
    assert not list(calls_in(adf_blocks(to_adf(markdown))))


@given(MARKDOWN)
def test_words_survive_the_way_to_jira_and_back(markdown: str) -> None:
    meant = text_of_blocks(read_document(markdown)).count("word")
    assert text_of_blocks(adf_blocks(to_adf(markdown))).count("word") == meant
    assert text_of_blocks(wiki_blocks(to_wiki(markdown))).count("word") == meant


@given(st.text(st.sampled_from("ab1 `*_[]{}()#+-.!|~^?@:;&<>\\\"'/=%é☑"), max_size=30))
def test_typed_signs_survive_the_way_to_jira_and_back(typed: str) -> None:
    words = f"x{' '.join(typed.split())}x"
    markdown = write_markdown((Paragraph((PlainText(words),)),))
    by_adf = text_of_blocks(read_document(adf_to_markdown(to_adf(markdown))))
    by_wiki = text_of_blocks(read_document(wiki_to_markdown(to_wiki(markdown))))
    assert (by_adf, by_wiki) == (words, words)


@given(CODE, st.sampled_from(["", "python", "diff"]))
def test_code_survives_the_way_to_jira_and_back(code: str, language: str) -> None:
    markdown = f"````{language}\n{code}\n````\n\n- in a list\n\n  ````\n  x\n  ````"
    blocks = [n for n in nodes_of(to_adf(markdown)) if n["type"] == "codeBlock"]
    assert [block["content"][0]["text"] for block in blocks] == [code, "x"]
    assert list(code_in(read_document(adf_to_markdown(to_adf(markdown))))) == [
        code,
        "x",
    ]
    back = [
        text.replace("\u200b", "") for text in code_in(wiki_blocks(to_wiki(markdown)))
    ]
    assert back == [code, "x"]


@given(CODE)
def test_code_in_a_line_survives_the_way_to_jira_and_back(code: str) -> None:
    code = " ".join(code.split())
    wiki = to_wiki(f"see `` {code} `` there")
    assert squeezed(text_of_blocks(wiki_blocks(wiki))) == squeezed(f"see{code}there")


def test_code_is_changed_only_where_it_would_call_or_end() -> None:
    assert to_wiki("```\nx[1] [ ~a] @b {code}\n```") == (
        "{noformat}\nx[1] [ ~a] @b {code}\n{noformat}"
    )
    assert to_wiki("```java\n[~ann]\n```") == "{code:java}\n[\u200b~ann]\n{code}"
    assert to_wiki("```\n{noformat}\n```") == "{noformat}\n{\u200bnoformat}\n{noformat}"


def test_a_call_of_ours_is_a_mention() -> None:
    markdown = f"{mention_link('Ann [Lee]', '5b10:a')}: done"
    assert to_adf(markdown)["content"] == [
        {
            "type": "paragraph",
            "content": [
                {"type": "mention", "attrs": {"id": "5b10:a", "text": "@Ann Lee"}},
                {"type": "text", "text": ": done"},
            ],
        }
    ]
    assert to_wiki(mention_link("Ann", "ann")) == "[~ann]"
    assert to_wiki(mention_link("Ann", "a,b")) == "@Ann"


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//x.y"]
)
def test_a_link_that_leads_nowhere_safe_is_words(url: str) -> None:
    markdown = f"[here](<{url}>)"
    assert "link" not in json.dumps(to_adf(markdown)["content"])
    assert "|" not in to_wiki(markdown)


def test_a_link_cannot_break_out_of_its_brackets() -> None:
    wiki = to_wiki("[@a|b\\] \\[~ann](<https://x.y/|z]{code}>)")
    assert wiki == "[\\@a&#124;b\\] \\[\\~ann|https://x.y/%7Cz%5D%7Bcode%7D]"


def test_brackets_that_a_link_closes_call_nobody() -> None:
    assert to_wiki("[@ann [x](https://y.z)") == "\\[\\@ann [x|https://y.z]"


def test_marks_for_machines_are_not_shown() -> None:
    markdown = "Done\n<!-- patchwright:state=resolved run=1 -->"
    assert to_wiki(markdown) == "Done"
    assert "patchwright:" not in json.dumps(to_adf(markdown))


STATUS = """\
**Working on it** · step 4 · [live log](https://x.y/runs/7) · say `@patchwright stop`
- [x] Reproduced: `pytest -k a|b` fails
- [ ] Fix
  - [ ] inner

> [!WARNING]
> Careful with *this*

| command | after |
| --- | --- |
| `make test` | 0 |

<details><summary>Log</summary>

```python
x = 1
```

</details>

1. one
2. two

   > said

<sub>run 7</sub>
"""


def test_s75_one_text_of_ours_is_adf_for_the_cloud() -> None:
    kinds = [node["type"] for node in to_adf(STATUS)["content"]]  # type: ignore[attr-defined]
    assert kinds == [
        *("paragraph", "taskList", "panel", "table", "expand", "orderedList"),
        "paragraph",
    ]
    ids = [
        node["attrs"]["localId"]
        for node in nodes_of(to_adf(STATUS))
        if node["type"] in {"taskList", "taskItem"}
    ]
    assert ids == [f"patchwright-{number}" for number in range(1, 6)]


def test_s75_the_same_text_is_wiki_markup_for_a_data_center() -> None:
    assert (
        to_wiki(STATUS)
        == """\
*Working on it* · step 4 · [live log|https://x.y/runs/7] · say {{&#64;patchwright stop}}

* ☑ Reproduced: {{pytest &#45;k a&#124;b}} fails
* ☐ Fix
** ☐ inner

{panel:title=Warning}
Careful with _this_
{panel}

||command||after||
|{{make test}}|0|

{panel:title=Log}
{code:python}
x = 1
{code}
{panel}

# one
# two
{quote}
said
{quote}

run 7"""
    )


def test_what_wiki_markup_would_take_for_markup_is_escaped() -> None:
    typed = "h1. a\n\n\\# b {code} \\*c\\* -d- +e+ ^f^ ~g~ ??h?? :) (!) !i! &lt;j a\\b"
    assert to_wiki(typed) == (
        "h1&#46; a\n\n\\# b \\{code\\} \\*c\\* \\-d\\- \\+e\\+ \\^f\\^ \\~g\\~ "
        "\\?\\?h\\?\\? &#58;) \\(\\!) \\!i! <j a&#92;b"
    )


def deep(levels: int) -> str:
    return "\n".join(f"{'  ' * level}- level" for level in range(levels))


@pytest.mark.parametrize("levels", [1, 12, 60])
def test_deep_lists_are_written(levels: int) -> None:
    assert list(broken_rules(to_adf(deep(levels)))) == []
    assert to_wiki(deep(levels)).count("level") == levels
