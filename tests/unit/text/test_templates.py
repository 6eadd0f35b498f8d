"""Templates of branches and titles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.text.branch_names import (
    MAX_BRANCH_CHARS,
    VARIABLES,
    branch_name,
    is_branch_name,
    name_branch,
    names_branches,
    render_branch,
    render_template,
    unknown_variable,
)

VALUES = {
    "number": "7",
    "slug": "wrong-sum",
    "key": "SHOP-7",
    "label": "bug",
    "date": "2026-01-31",
    "sha": "abc1234",
    "title": "Wrong sum",
    "run": "0f9e",
}
TEMPLATES = st.lists(
    st.sampled_from([f"{{{{{name}}}}}" for name in VARIABLES])
    | st.text("ab/-. #~é", max_size=3),
    max_size=6,
).map("".join)


def test_each_variable_is_filled_in() -> None:
    template = " ".join(f"{{{{{name}}}}}" for name in VARIABLES)
    assert render_template(template, VALUES) == " ".join(VALUES.values())


def test_blanks_in_the_braces_do_not_matter() -> None:
    assert render_template("fix: {{ title }} (#{{number }})", VALUES) == (
        "fix: Wrong sum (#7)"
    )


def test_a_value_is_not_a_template() -> None:
    assert render_template("{{title}}", {"title": "{{run}}"}) == "{{run}}"


@pytest.mark.parametrize(
    ("template", "unknown"),
    [
        ("{{number}}", None),
        ("no variable", None),
        ("{{Number}}", "Number"),
        ("{{number}} {{ nr }}", "nr"),
        ("{{}}", ""),
        ("{number}", None),
    ],
)
def test_the_first_unknown_variable_is_found(template: str, unknown: str) -> None:
    assert unknown_variable(template) == unknown


@pytest.mark.parametrize(
    ("template", "branch"),
    [
        ("bot/{{number}}-{{slug}}", "bot/7-wrong-sum"),
        ("{{label}}/{{key}}", "bug/SHOP-7"),
        ("{{date}}/{{run}}/{{title}}", "2026-01-31/0f9e/wrong-sum"),
    ],
)
def test_a_branch_keeps_the_case_of_a_key(template: str, branch: str) -> None:
    assert render_branch(template, VALUES) == branch


def test_s46_a_title_cannot_inject_into_the_branch() -> None:
    values = {**VALUES, "label": "a;id $(x)", "title": 'läuft nicht 🚀 / "x"'}
    rendered = render_branch("{{label}}/{{number}}-{{title}}", values)
    assert rendered == "a-id-x/7-lauft-nicht-x"


def test_a_value_that_is_missing_leaves_a_branch_that_git_takes() -> None:
    assert render_branch("{{label}}/{{number}}", {"number": "7"}) == "none/7"


@pytest.mark.parametrize(
    ("template", "branch"),
    [
        ("", branch_name("7", "Wrong sum")),
        ("bot/{{number}}", "bot/7"),
        ("{{key}}", branch_name("7", "Wrong sum")),
        (f"{'x' * 150}/{{{{number}}}}/{{{{title}}}}-{{{{title}}}}", ""),
    ],
)
def test_a_branch_is_never_the_default_one(template: str, branch: str) -> None:
    values = {**VALUES, "key": "Main", "title": "Wrong sum"}
    expected = branch or f"{'x' * 150}/7/wrong-sum-wrong-sum"
    assert name_branch(template, values, "main") == expected


def test_a_branch_that_gets_too_long_is_our_own() -> None:
    template = f"{'x' * 190}/{{{{number}}}}-{{{{title}}}}"
    values = {**VALUES, "title": "many words " * 9}
    assert name_branch(template, values, "main") == branch_name("7", values["title"])


@given(TEMPLATES, st.dictionaries(st.sampled_from(VARIABLES), st.text(max_size=80)))
def test_s46_every_accepted_template_gives_branches(
    template: str, values: dict[str, str]
) -> None:
    named = (
        name_branch(template, {"number": "1", "title": "", **values}, "main")
        if (
            values.get("number", "1").isdecimal()
            and values.get("number", "1").isascii()
        )
        else "x"
    )
    assert is_branch_name(named)
    if names_branches(template):
        rendered = render_branch(template, values)
        assert len(rendered) > MAX_BRANCH_CHARS or is_branch_name(rendered)
