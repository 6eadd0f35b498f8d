"""A microagent says when it is wanted; one that says it wrongly can be looked up."""

import pytest

from patchwright.core.knowledge.pages import MAX_CHARS, PageKind, split_front_matter


def test_front_matter_is_read_and_taken_off() -> None:
    yaml = "name: db\ntype: knowledge\ntriggers:\n- SQL\n-   data   base\n"
    about, rest = split_front_matter(f"---\n{yaml}---\nUse X.\n")
    assert about.kind is PageKind.KNOWLEDGE
    assert about.triggers == ("SQL", "data base")
    assert about.fault == ""
    assert rest == "Use X.\n"


@pytest.mark.parametrize(
    ("yaml", "kind", "triggers"),
    [
        ("type: repo", PageKind.REPO, ()),
        ("agent: CodeAct", PageKind.REPO, ()),
        ("", PageKind.REPO, ()),
        ("triggers: [no, 404, 1.0]", PageKind.KNOWLEDGE, ("no", "404", "1.0")),
        ("triggers: docker", PageKind.KNOWLEDGE, ("docker",)),
        ("type: knowledge", PageKind.KNOWLEDGE, ()),
        ("type: task\nname: fix_ci", PageKind.TASK, ("/fix_ci",)),
        ("type: task\ntriggers: ['/ci', '']", PageKind.TASK, ("/ci",)),
    ],
)
def test_type_and_triggers_say_when_a_page_is_wanted(
    yaml: str, kind: PageKind, triggers: tuple[str, ...]
) -> None:
    about, rest = split_front_matter(f"---\n{yaml}\n---\nText")
    assert (about.kind, about.triggers, about.fault) == (kind, triggers, "")
    assert rest == "Text"


def test_windows_line_ends_and_a_mark_of_byte_order_do_not_matter() -> None:
    about, rest = split_front_matter("\ufeff---\r\ntype: task\r\n---\r\nText\r\n")
    assert (about.kind, rest) == (PageKind.TASK, "Text\n")


@pytest.mark.parametrize(
    "text", ["No rule\n---\na: b\n---\n", "---\nnever closed\n", ""]
)
def test_a_text_without_front_matter_is_all_text(text: str) -> None:
    about, rest = split_front_matter(text)
    assert (about.kind, about.fault, rest) == (PageKind.REPO, "", text)


@pytest.mark.parametrize(
    ("yaml", "fault"),
    [
        ("triggers: [a", "expected ',' or ']', but got '<stream end>'"),
        ("type: wisdom", "`type`"),
        ("triggers: {a: b}", "`triggers`"),
        ("triggers: [[a]]", "`triggers.0`"),
        ("- a list", "`all`"),
        ("a: " + "[" * 3_000, "RecursionError"),
        ("a: " + "b" * MAX_CHARS, "it is too long"),
    ],
)
def test_a_broken_front_matter_is_told_and_the_text_kept(yaml: str, fault: str) -> None:
    about, rest = split_front_matter(f"---\n{yaml}\n---\nText")
    assert about.fault == fault
    assert (about.kind, about.triggers) == (PageKind.KNOWLEDGE, ())
    assert rest == "Text"
