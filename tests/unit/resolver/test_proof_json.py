"""A proof as JSON has the same keys whatever was found."""

import json

from patchwright.core.types.evidence import Proof, TestResults
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.messages.proof_json import (
    outcome_proof_as_json,
    proof_as_json,
    verdict_as_json,
)
from tests.unit.resolver.endings import FULL_REPORT, GREEN, RED, ended, proven


def test_all_of_a_proof_is_there() -> None:
    told = proof_as_json(Proof.PROVEN, FULL_REPORT, (RED, GREEN))
    assert json.loads(json.dumps(told)) == told
    assert told["proof"] == "proven"
    assert told["proof_reason"] == "red-to-green"
    assert str(told["proof_sentence"]).startswith("Proven: in fresh sandboxes, ")
    assert (told["proof_base_sha"], told["proof_head_sha"]) == ("a" * 40, "b" * 40)
    assert told["tests"] == [
        {
            "name": "tests/test_cart.py::test_pieces",
            "before": "failed",
            "after": "passed",
            "cause": "assert 450 == 1350",
        }
    ]
    assert told["newly_failing"] == ["tests/test_tax.py::test_vat"]
    assert told["altered"] == ["tests/test_old.py::test_sum"]
    assert told["flaky"] == ["tests/test_net.py::test_ping"]
    assert told["uncovered"] == [
        {"path": "shop/cart.py", "start": 12, "lines": 3},
        {"path": "shop/tax.py", "start": 4, "lines": 0},
    ]
    assert told["hunks"] == {"total": 5, "tried": 4}
    assert told["suite"] == {"command": "pytest -q", "tests": 312, "complete": False}


def test_all_of_the_evidence_is_there() -> None:
    results = TestResults(
        runner="pytest", passed=1, failed=1, failing=("t::a",), broken=("t::b",)
    )
    red = RED.replace(tail="1 failed", results=results)
    told = proof_as_json(Proof.PROVEN, FULL_REPORT, (red, GREEN))
    first = json.loads(json.dumps(told))["evidence"][0]
    assert first == {
        "role": "before",
        "command": "pytest -k sum",
        "commit": "a" * 40,
        "status": "unread",
        "exit_code": 1,
        "seconds": 1.25,
        "digest": "d" * 64,
        "results": {
            "runner": "pytest",
            "passed": 1,
            "failed": 1,
            "skipped": 0,
            "failing": ["t::a"],
            "broken": ["t::b"],
        },
        "tail": "1 failed",
    }


def test_the_keys_are_there_without_a_report() -> None:
    full, none = (
        verdict_as_json(Proof.PROVEN, FULL_REPORT),
        verdict_as_json(Proof.NOT_PROVEN, None),
    )
    assert list(full) == list(none)
    assert none["tests"] == none["uncovered"] == []
    assert none["proof_reason"] is None


def test_nothing_is_said_of_a_run_without_a_change() -> None:
    answered = outcome_proof_as_json(ended(OutcomeKind.ANSWERED, "42"))
    assert (answered["proof"], answered["proof_sentence"]) == ("none", None)
    assert outcome_proof_as_json(proven())["proof_sentence"]
