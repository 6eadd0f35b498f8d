"""What is looked up comes with its source, the best first, and no more than fits."""

from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.knowledge.pages import KnowledgePage, PageKind
from patchwright.core.knowledge.search import (
    MAX_ANSWER_CHARS,
    MAX_PASSAGE_CHARS,
    search_pages,
    split_page,
)

GUIDE = KnowledgePage(
    path="docs/guide.md",
    kind=PageKind.DOCUMENT,
    text="""\
# Guide

Welcome.

## Running tests

Call `make check`. A test takes a second.

```sh
# Not a heading
make check
```

## Releases

Tag the commit; the tests must pass.""",
)
AGENTS = KnowledgePage(
    path="web/AGENTS.md", kind=PageKind.FOLDER, text="Use spaces here."
)
CHINESE = KnowledgePage(
    path="zh.md", kind=PageKind.KNOWLEDGE, text="# 部署\n先运行数据库迁移。"
)
PAGES = (AGENTS, GUIDE, CHINESE)


def test_the_section_that_fits_best_comes_first() -> None:
    found = search_pages(PAGES, "How do I run the test?")
    assert found.sources == ("docs/guide.md",)
    assert 'what="docs/guide.md Running tests" author="base branch"' in found.text
    assert "# Not a heading\nmake check" in found.text
    assert "Tag the commit" not in found.text
    both = search_pages(PAGES, "When must the commit pass the tests?").text
    assert both.index("docs/guide.md Releases") < both.index("docs/guide.md Running")


def test_a_path_returns_the_whole_page() -> None:
    found = search_pages(PAGES, "web/AGENTS.md")
    assert found.sources == ("web/AGENTS.md",)
    assert "Use spaces here." in found.text
    assert search_pages(PAGES, "docs/guide.md").text.count("what=") == 3


def test_a_path_with_words_returns_what_fits_in_that_page() -> None:
    found = search_pages(PAGES, "`docs/guide.md` releases")
    assert found.text.count("what=") == 1
    assert "Tag the commit" in found.text
    assert search_pages(PAGES, "docs/guide.md unheard-of").text.count("what=") == 3


def test_a_path_that_is_part_of_another_is_not_that_page() -> None:
    top = KnowledgePage(path="AGENTS.md", kind=PageKind.REPO, text="Top.")
    assert search_pages((top, AGENTS), "web/AGENTS.md").sources == ("web/AGENTS.md",)


def test_words_without_blanks_are_found() -> None:
    assert search_pages(PAGES, "数据库迁移").sources == ("zh.md",)


def test_that_there_is_nothing_is_said_with_what_there_is() -> None:
    found = search_pages(PAGES, "kubernetes")
    assert found.sources == ()
    assert found.text == (
        "This repository says nothing about 'kubernetes'. There is: `web/AGENTS.md`, "
        "`docs/guide.md`, `zh.md`."
    )
    assert search_pages((), "x").text == "This repository says nothing about 'x'."


def test_a_long_page_is_answered_in_parts_that_can_be_asked_for() -> None:
    text = "## Rules\n" + "one more rule\n" * 2_000
    long = KnowledgePage(path="AGENTS.md", kind=PageKind.REPO, text=text)
    found = search_pages((long,), "AGENTS.md")
    assert len(found.text) < MAX_ANSWER_CHARS + 2_000
    assert "Not shown for want of room: `AGENTS.md Rules (5)`, " in found.text


@given(st.text(alphabet="#` \na", max_size=200))
def test_passages_hold_every_word_in_order(text: str) -> None:
    page = KnowledgePage(path="p.md", kind=PageKind.DOCUMENT, text=text)
    assert "".join("".join(p.text for p in split_page(page)).split()) == "".join(
        text.split()
    )


def test_no_passage_is_longer_than_what_can_be_quoted() -> None:
    page = KnowledgePage(path="p.md", kind=PageKind.DOCUMENT, text="word " * 5_000)
    passages = list(split_page(page))
    assert max(len(passage.text) for passage in passages) <= MAX_PASSAGE_CHARS
    assert [passage.number for passage in passages] == list(range(1, 10))
