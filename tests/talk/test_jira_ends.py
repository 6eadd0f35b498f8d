"""However a request in Jira ends, its ticket says so: once, and what comes next."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from tests.fakes.llm.turns import Turn, TurnLike, call
from tests.flow.office import Office, in_office
from tests.flow.text import steady
from tests.flow.tickets import ask, calls, replies, reply

POOR = {
    "PATCHWRIGHT_LIMITS__MAX_COST_USD": "0.0001",
    "PATCHWRIGHT_LLM__INPUT_COST_PER_TOKEN": "0.01",
    "PATCHWRIGHT_LLM__OUTPUT_COST_PER_TOKEN": "0.01",
}
ANSWER = call("finish", answer="It is *not* so: `a < b`.", summary="Looked.")


@dataclass(frozen=True)
class End:
    """What the model does, what the house allows, and what is told of it."""

    turns: list[TurnLike]
    kind: OutcomeKind
    told: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    calls: int = 0


ENDS = {
    "a key that the provider refuses": End(
        [Turn(status=401)], OutcomeKind.FAILED, ("*Failed* (",)
    ),
    "no money": End([], OutcomeKind.OVER_BUDGET, ("*Over budget*",), POOR),
    "a question": End(
        ["Cents, or euros?"] * 3,
        OutcomeKind.NEEDS_INPUT,
        ("*Needs you*", "Cents"),
        calls=1,
    ),
    "an answer": End([ANSWER], OutcomeKind.ANSWERED, ("*Answered*",)),
}


@pytest.mark.parametrize("cloud", [True, False], ids=["cloud", "datacenter"])
@pytest.mark.parametrize("name", ENDS)
def test_p2_every_end_is_told_once(tmp_path: Path, name: str, *, cloud: bool) -> None:
    end = ENDS[name]
    with in_office(tmp_path, end.turns, cloud=cloud, settings=end.settings) as office:
        key = ask(office)
        said = reply(office, key)
        assert office.story.outcome().kind is end.kind, said
        assert all(words in said for words in end.told), said
        assert len(calls(office, key)) == end.calls
        assert office.story.branches() == []


def mapped_to(login: str, office_map: str) -> Mapping[str, str]:
    return {
        "PATCHWRIGHT_ACCOUNTS__MAP": json.dumps([{"jira": office_map, "github": login}])
    }


def test_p8_who_may_not_write_is_told_so_and_costs_nothing(tmp_path: Path) -> None:
    names = mapped_to("eve", "5b10acann")
    with in_office(tmp_path, [], mapped=False, settings=names) as office:
        office.story.github.grant("acme/shop", "eve", "read")
        key = ask(office)
        assert steady(reply(office, key)) == (
            "*Declined* · [run|GITHUB/runs/RUN]\n\n"
            "eve has read access here; write access is needed.\n\n"
            "run RUN · requested by Ann Lee · in acme/shop · thread read at TIME · "
            "model openai/scripted"
        )
        assert calls(office, key) == []
        assert office.story.provider.requests == []


def test_p2_a_jira_that_is_away_is_told_later(tmp_path: Path) -> None:
    with in_office(tmp_path, [ANSWER]) as office:
        _fail(office)
        key = ask(office)
        assert replies(office, key) == []
        for _ in range(2):
            office.story.work_later(60)
        assert replies(office, key)[0].startswith("*Answered*")


def _fail(office: Office) -> None:
    office.jira.fake.fail_next("POST", "/comment$", 503, times=3)
