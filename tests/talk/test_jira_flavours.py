"""A site in the cloud and a data center are spoken to each in its own way."""

import json
import re
from pathlib import Path

import pytest

from tests.fakes.jira.site import CONTEXT_PATH
from tests.fakes.llm.turns import call
from tests.flow.office import Office, in_office
from tests.flow.script import in_turn
from tests.flow.story import fix_turns
from tests.flow.tickets import ask, calls, reply

both = pytest.mark.parametrize("cloud", [True, False], ids=["cloud", "datacenter"])
WORDS = "Ask [~zoe] or @max.\n\n```\n[~ann] {code}\n```"
ANSWER = call("finish", answer=WORDS, summary="Looked.")


def bodies(office: Office) -> list[object]:
    """Return the texts of the comments that the service has sent."""
    seen = office.jira.fake.requests
    sent = [json.loads(one.body) for one in seen if "/comment" in one.path and one.body]
    return [one["body"] for one in sent]


@both
def test_s75_each_flavour_gets_its_own_kind_of_text(
    tmp_path: Path, *, cloud: bool
) -> None:
    with in_office(tmp_path, [ANSWER], cloud=cloud) as office:
        key = ask(office, "whom shall I ask?")
        kind = dict if cloud else str
        assert bodies(office)
        assert all(isinstance(one, kind) for one in bodies(office))
        assert reply(office, key).startswith("*Answered*")
        calls(office, key)


@both
def test_s75_the_models_text_mentions_nobody(tmp_path: Path, *, cloud: bool) -> None:
    with in_office(tmp_path, [ANSWER], cloud=cloud) as office:
        key = ask(office, "whom shall I ask?")
        sent = json.dumps(bodies(office))
        assert '"mention"' not in sent
        assert "[~accountid:" not in reply(office, key)
        assert "zoe" in reply(office, key)
        assert re.search(r"(?<!\\)\[~zoe", reply(office, key)) is None or cloud
        calls(office, key)


def test_s76_a_data_center_is_reached_below_its_path_with_its_token(
    tmp_path: Path,
) -> None:
    with in_office(tmp_path, [ANSWER], cloud=False) as office:
        fake = office.jira.fake
        key = ask(office, "whom shall I ask?")
        assert all(
            one.path.startswith(f"{CONTEXT_PATH}/rest/api/2/") for one in fake.requests
        )
        assert fake.settings().user == ""
        reply(office, key)
        calls(office, key)


@both
def test_s75_all_errors_of_jira_are_reported(tmp_path: Path, *, cloud: bool) -> None:
    refusal = {"errorMessages": ["No."], "errors": {"resolution": "It is missing."}}
    moves = {"PATCHWRIGHT_JIRA__TRANSITIONS": json.dumps({"on_pr": "Done"})}
    with in_office(
        tmp_path, in_turn(*fix_turns()), cloud=cloud, settings=moves
    ) as office:
        office.jira.fake.fail_next("POST", "/transitions$", 400, body=refusal)
        key = ask(office)
        said = reply(office, key)
        assert said.startswith("*Done, proven* · [pull request #1|")
        assert "APP-1 stays where it is: " in said
        assert "No." in said
        assert "resolution: It is missing." in said
        calls(office, key)
