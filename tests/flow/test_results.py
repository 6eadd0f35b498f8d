"""Whoever starts a service may ask for more than words, by a JSON schema."""

import json
from pathlib import Path

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.services import RunOverrides
from tests.fakes.llm.turns import TurnLike, call, say
from tests.flow.script import Request, in_turn, results
from tests.flow.story import telling

SCHEMA = {
    "type": "object",
    "properties": {"risk": {"$ref": "#/$defs/Risk"}},
    "required": ["risk"],
    "$defs": {"Risk": {"enum": ["low", "high"]}},
}
ASKS = RunOverrides(schema=json.dumps(SCHEMA))


def answer(**more: object) -> TurnLike:
    return call("finish", answer="It is so.", summary="Looked.", **more)


def test_what_a_schema_asks_for_is_handed_over(tmp_path: Path) -> None:
    def again(request: Request) -> TurnLike:
        [said] = results(request)
        assert "'medium' is not one of ['low', 'high']" in said
        return answer(result={"risk": "high"})

    turns = in_turn(answer(result={"risk": "medium"}), again)
    with telling(tmp_path, turns, overrides=ASKS) as story:
        issue = story.ask("@patchwright why is that?")
        story.work()
        assert story.outcome().kind is OutcomeKind.ANSWERED
        assert json.loads(story.outcome().structured) == {"risk": "high"}
        story.reply(issue)


def test_it_is_handed_over_in_text_too(tmp_path: Path) -> None:
    def look(request: Request) -> TurnLike:
        assert "`result.risk`" in str(request["messages"][0])
        return said

    said = say(
        '<call tool="finish">\n<arg name="summary">Looked.</arg>\n'
        '<arg name="answer">It is so.</arg>\n<arg name="result.risk">low</arg>\n</call>'
    )
    as_text = {"PATCHWRIGHT_LLM__TOOL_CALLS": "text"}
    with telling(tmp_path, in_turn(look), overrides=ASKS, settings=as_text) as story:
        issue = story.ask("@patchwright why is that?")
        story.work()
        assert json.loads(story.outcome().structured) == {"risk": "low"}
        story.reply(issue)


def test_after_three_tries_it_goes_on_without(tmp_path: Path) -> None:
    turns = [answer(), answer(result="high"), answer(result={"risk": 1})]
    with telling(tmp_path, turns, overrides=ASKS) as story:
        issue = story.ask("@patchwright why is that?")
        story.work()
        outcome = story.outcome()
        assert (outcome.kind, outcome.structured) == (OutcomeKind.ANSWERED, "")
        assert "Nothing that fits the schema" in story.reply(issue)
