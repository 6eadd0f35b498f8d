"""Expressions mean here what they mean on GitHub.

https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
"""

import pytest

from tests.runner.expressions.evaluate import Scene, Status, evaluate
from tests.runner.expressions.nodes import ExpressionError, path_of
from tests.runner.expressions.parse import parse
from tests.runner.expressions.templates import (
    expressions_in,
    fill,
    is_met,
    paths_in,
)
from tests.runner.expressions.values import Value, to_text

EVENT: Value = {
    "issue": {
        "number": 7.0,
        "title": "Mona's $(id)",
        "pull_request": None,
        "labels": [{"name": "bug"}, {"name": "Fix-Me"}, {"color": "red"}],
    }
}
SCENE = Scene(
    {
        "github": {"event": EVENT, "event_name": "issues", "ref": "refs/heads/main"},
        "inputs": {"dry-run": "false", "mention": "/exp"},
        "steps": {},
    }
)


def value_of(expression: str, scene: Scene = SCENE) -> Value:
    return evaluate(parse(expression), scene)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("null", None),
        ("0xff", 255),
        ("-2.99e-2", -0.0299),
        ("'It''s open source!'", "It's open source!"),
        ("github.event.issue.number", 7),
        ("github['event'].issue['title']", "Mona's $(id)"),
        ("GITHUB.Event_Name", "issues"),
        ("github.event.comment.user.login", None),
        ("github.event.issue.labels.*.name", ["bug", "Fix-Me"]),
        ("github.event.issue.labels[1].name", "Fix-Me"),
        ("github.event.issue.labels[9].name", None),
        ("inputs.mention", "/exp"),
    ],
)
def test_values(expression: str, expected: Value) -> None:
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "'Main' == 'main'",
        "null == ''",
        "null == 0",
        "true == 1",
        "'1' == 1",
        "'0x10' == 16",
        "'' == 0",
        "'a' != 1",
        "'b' > 'A'",
        "2 >= '2'",
        "!('a' < 1)",
        "github.event.comment == null",
        "!github.event.issue.pull_request",
        "fromJSON('[]') != fromJSON('[]')",
        "contains(github.event.issue.labels.*.name, 'fix-me')",
        "contains('Hello WORLD', 'o w')",
        "!contains(fromJSON('[\"fix\"]'), 'fi')",
        "contains(null, '')",
        "startsWith(github.ref, 'REFS/heads/')",
        "endsWith('main', 'AIN')",
        "join(fromJSON('[1,true,\"x\"]'), '+') == '1+true+x'",
        "format('{0}{{}}{1}', 'a', null) == 'a{}'",
        'fromJSON(\'{"a": {"b": 2}}\').a.b == 2',
        "1 < 2 == true",
        "true || false && false",
    ],
)
def test_what_is_true(expression: str) -> None:
    assert value_of(expression) is True


def test_and_and_or_give_one_of_their_values() -> None:
    assert value_of("github.event.comment.id || github.event.issue.number") == 7
    assert value_of("'' && 'never'") == ""
    assert value_of("inputs.dry-run && 'a text is true'") == "a text is true"


def test_a_text_that_is_no_number_is_not_a_number() -> None:
    assert value_of("'a' == 'a'") is True
    assert value_of("0 == 'a'") is False
    assert value_of("'a' < 1 || 'a' > 1 || 'a' == 1") is False


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("true", "true"),
        ("null", ""),
        ("3.0", "3"),
        ("3.5", "3.5"),
        ("github.event", "Object"),
        ("github.event.issue.labels", "Array"),
    ],
)
def test_values_as_text(expression: str, expected: str) -> None:
    assert to_text(value_of(expression)) == expected


def test_json_is_written_on_many_lines() -> None:
    text = value_of("toJSON(inputs)")
    assert text == '{\n  "dry-run": "false",\n  "mention": "/exp"\n}'


@pytest.mark.parametrize(
    "expression",
    [
        '"double"',
        "secrets.KEY",
        "nothing()",
        "contains('one')",
        "a &&",
        "github.",
        "(github.ref",
        "github.ref github.sha",
        "format('{1}', 'a')",
        "github.ref & 1",
    ],
)
def test_what_github_refuses(expression: str) -> None:
    with pytest.raises(ExpressionError):
        value_of(expression)


def test_text_is_filled_in_and_only_once() -> None:
    scene = Scene({"inputs": {"title": "${{ github.token }}"}})
    assert fill("a ${{ inputs.title }} z", scene) == "a ${{ github.token }} z"
    assert fill("${{ '}}' }} {{number}}", scene) == "}} {{number}}"


def test_an_expression_that_is_not_closed_is_refused() -> None:
    with pytest.raises(ExpressionError, match="not closed"):
        fill("${{ github.ref }", SCENE)


@pytest.mark.parametrize(
    ("condition", "status", "expected"),
    [
        (None, Status.SUCCESS, True),
        (None, Status.FAILURE, False),
        ("true", Status.FAILURE, False),
        ("${{ true }}", Status.CANCELLED, False),
        ("always()", Status.CANCELLED, True),
        ("always() && inputs.dry-run == 'true'", Status.SUCCESS, False),
        ("failure()", Status.FAILURE, True),
        ("failure()", Status.CANCELLED, False),
        ("!cancelled()", Status.FAILURE, True),
        ("Cancelled()", Status.CANCELLED, True),
        ("steps.set-up.outputs.python != ''", Status.SUCCESS, False),
        ("'a' || 'b'", Status.FAILURE, False),
    ],
)
def test_conditions(condition: str | None, status: Status, *, expected: bool) -> None:
    assert is_met(condition, Scene(SCENE.contexts, status)) is expected


def test_half_a_condition_in_braces_is_refused() -> None:
    with pytest.raises(ExpressionError, match="always true"):
        is_met("${{ false }} && true", SCENE)


def test_what_an_expression_reads_is_known() -> None:
    [node] = expressions_in("x ${{ format('{0}', github.event.issue['title']) }}")
    assert "github.event.issue.title" in paths_in(node)
    assert path_of(parse("github.event.*.body")) == "github.event.*.body"
