"""A trigger is found as words of their own, in any case and any script."""

import pytest

from patchwright.core.knowledge.pages import has_trigger


@pytest.mark.parametrize(
    ("trigger", "request_text"),
    [
        ("docker", "The DOCKER build fails"),
        ("docker", "docker"),
        ("docker", "(docker)"),
        ("pull request", "this pull\n   request"),
        ("c++", "in C++, please"),
        ("/fix_ci", "please /fix_ci now"),
        ("straße", "Die STRASSE? Nein: die Straße."),
        ("数据库", "修复数据库连接"),
        ("git", "请用git提交"),
        ("깃", "깃을 고쳐주세요"),
        ("a.b", "see a.b"),
    ],
)
def test_a_trigger_is_found(trigger: str, request_text: str) -> None:
    assert has_trigger(["other", trigger], request_text)


@pytest.mark.parametrize(
    ("trigger", "request_text"),
    [
        ("log", "the catalogue"),
        ("log", "a prólogo"),
        ("log", "logs"),
        ("sql", "sql_table"),
        ("/fix_ci", "src/fix_ci"),
        ("/fix_ci", "/fix_cities"),
        ("a.b", "see axb"),
        ("", "anything"),
    ],
)
def test_a_part_of_a_word_is_no_trigger(trigger: str, request_text: str) -> None:
    assert not has_trigger([trigger], request_text)
