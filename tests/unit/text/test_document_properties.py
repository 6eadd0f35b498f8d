"""What holds for every document."""

from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.text.document.reader import read_document
from patchwright.core.text.document.types import CodeBlock
from patchwright.core.text.escape import inline_code
from tests.unit.text.documents import code_of, words_of

WORDS = st.text("abcxyzäß", min_size=1, max_size=8)
MARKUP = st.sampled_from(
    [
        *("*", "**", "_", "`", "~~", "[", "](", ")", "!", "<", ">", "&", "|", "\\"),
        *("<sub>", "</sub>", "<details>", "</details>", "<summary>", "</summary>"),
        *("> ", "> [!NOTE]\n", "- ", "- [x] ", "1. ", "# ", "---", "\n", "\n\n"),
        *("```", "    ", "|-|\n", "<br>", "https://", "<b>", "</code>", "<code>"),
    ]
)
CODE = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\t\n")
)


@given(st.lists(st.one_of(WORDS, MARKUP, st.just(" "))).map("".join))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(read_document(text), tuple)


@given(st.lists(st.one_of(WORDS, st.sampled_from("*_~<>&!().,:;#-+ \n")), max_size=30))
def test_no_word_of_a_text_is_lost(parts: list[str]) -> None:
    text = "".join(parts)
    shown = repr(read_document(text))
    words = [part for part in parts if part.isalpha()]
    assert all(word in shown for word in words)


@given(CODE)
def test_a_code_block_holds_the_very_code(code: str) -> None:
    assert read_document(f"{'`' * 40}\n{code}\n{'`' * 40}") == (CodeBlock(code),)


@given(CODE.filter(lambda code: code.strip() and code.splitlines() == [code]))
def test_a_span_of_code_holds_the_very_code(code: str) -> None:
    assert code_of(read_document(f"see {inline_code(code)} there")) == [code]


@given(st.lists(WORDS, min_size=1), st.lists(WORDS, min_size=1))
def test_a_fold_has_its_title_and_its_words(title: list[str], text: list[str]) -> None:
    summary = f"<summary>{' '.join(title)}</summary>"
    markdown = f"<details>{summary}\n\n{' '.join(text)}\n\n</details>"
    assert words_of(read_document(markdown)) == title + text
