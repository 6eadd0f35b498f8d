"""Texts that people see use the words of `docs/style-of-words.md`, and are short."""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from tests.architecture.reading import (
    MAX_WORDS,
    Sentence,
    messages_and_readme,
    reading,
    sentences,
    syllables,
)
from tests.architecture.shown_texts import (
    ShownText,
    messages,
    pages,
    texts_of_action,
    texts_of_module,
    texts_of_page,
    texts_of_template,
)
from tests.architecture.tree import ROOT, Module

STYLE = "docs/style-of-words.md"
ROW = re.compile(r"^\| (?P<avoid>[^|]+) \| (?P<use>[^|]+) \| ", re.MULTILINE)
# Plain phrases that have a form of the list in them.
PLAIN = re.compile(
    r"\bthere is no\b|\bis no (?:longer|more|less)\b|\banswer is no\b"
    r"|\bwhat counts as\b|\bask whoever\b|\bwhoever runs (?:this )?patchwright\b",
    re.IGNORECASE,
)
# Where a form may stand, and why.
ALLOWED = {
    "docs/field-reports.md": "its rows are the names of tests",
    STYLE: "it has the list",
}


def test_there_are_enough_pairs() -> None:
    assert len(pairs()) >= 40


def test_messages_say_it_plainly() -> None:
    assert sorted(found_in(messages())) == []


def test_pages_say_it_plainly() -> None:
    assert sorted(found_in(pages())) == []


def test_no_sentence_is_long() -> None:
    longest = sentences(messages_and_readme())[:100]
    assert [one for one in longest if one.words > MAX_WORDS] == []


def test_a_form_of_the_list_is_found() -> None:
    shown = [
        ShownText("a.py:1", "The run\ngoes on, and there is no limit."),
        ShownText("a.py:2", "`x` Is no repository."),
        ShownText("a.py:3", "It is no longer there, and a mender forgoes only that."),
        ShownText("docs/field-reports.md:1", "It goes on."),
    ]
    assert list(found_in(shown)) == [
        "a.py:1: goes on: write continues",
        "a.py:2: is no: write is not a, is not an",
    ]


def test_strings_of_code_are_found_without_their_values() -> None:
    code = '''"""A docstring of a module."""
@app.command("run")
def run(name: str) -> None:
    """Run it by name."""
    log.info("run_started", name=name)
    raise Failure(f"there is no `{name}` in {place}, "
                  "and none is made")

def other() -> None:
    """Nobody sees this one."""
    re.compile(r"no (such )?run\\b")
'''
    assert texts_of_module(Module("a.py", code)) == [
        ShownText("a.py:4", "Run it by name."),
        ShownText("a.py:6", "there is no X in X, and none is made"),
    ]


def test_texts_of_templates_pages_and_the_action_are_found() -> None:
    template = (
        '<p title="All of it">The <code>x</code> run {{ name }} {# no #}ended.'
        "{% if a %}<br>At last.{% endif %}</p><script>no script here</script>"
    )
    assert [one.text for one in texts_of_template("a.html", template)] == [
        "All of it",
        "The X run X ended.",
        "At last.",
    ]
    page = """# A title

Two
lines `code`.

```sh
not this
```

| a b | c d |
|-----|-----|
| e | f |
"""
    assert [one.text for one in texts_of_page("a.md", page)] == [
        "A title",
        "Two lines X.",
        "a b",
        "c d",
        "e",
        "f",
    ]
    action = (
        "name: A name\ninputs:\n  one: {description: Use `x`.}\nruns: {steps: []}\n"
    )
    assert [one.text for one in texts_of_action("action.yml", action)] == [
        "A name",
        "Use X.",
    ]


def test_sentences_are_counted() -> None:
    shown = [ShownText("a.py:1", "One two. Three `x`, - four?\nFive (six)! Done")]
    assert [(one.words, one.text) for one in sentences(shown)] == [
        (3, "Three `x`, - four?"),
        (2, "One two."),
        (2, "Five (six)!"),
        (1, "Done"),
    ]


def test_the_grade_is_that_of_flesch_and_kincaid() -> None:
    assert [*map(syllables, ("the", "table", "qwertyo", "we're"))] == [1, 2, 2, 1]
    got = reading(
        [Sentence("a", "The run is over."), Sentence("a", "A worker takes another.")]
    )
    assert got.sentences == 2
    assert got.words_per_sentence == 4
    assert round(got.grade, 2) == round(0.39 * 4 + 11.8 * 12 / 8 - 15.59, 2)
    assert round(got.ease, 2) == round(206.835 - 1.015 * 4 - 84.6 * 12 / 8, 2)


@cache
def pairs() -> dict[str, str]:
    """Return what to write instead of each form, by the form."""
    rows = list(ROW.finditer((ROOT / STYLE).read_text()))[1:]
    return {
        form.strip(): row["use"] for row in rows for form in row["avoid"].split(",")
    }


def found_in(texts: Iterable[ShownText]) -> Iterator[str]:
    """Yield each form of the list that stands in a text, and what to write."""
    for shown in texts:
        if shown.file not in ALLOWED:
            for match in _forms().finditer(PLAIN.sub("", shown.text)):
                form = " ".join(match[0].lower().split())
                yield f"{shown.place}: {form}: write {pairs()[form]}"


@cache
def _forms() -> re.Pattern[str]:
    """Match any form of the list, the longer of two that begin alike."""
    longest_first = sorted(pairs(), key=lambda form: -len(form))
    written = (r"\s+".join(map(re.escape, form.split())) for form in longest_first)
    return re.compile(rf"\b(?:{'|'.join(written)})\b", re.IGNORECASE)
