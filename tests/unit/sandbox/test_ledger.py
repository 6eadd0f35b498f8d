"""An action is remembered, even when its result is not."""

from patchwright.sandbox.action_server.server import IdempotencyTable


def test_a_result_is_kept_and_the_action_is_not_new_again() -> None:
    ledger = IdempotencyTable()
    assert ledger.begin("a")
    ledger.finish("a", {"kind": "done"})
    assert not ledger.begin("a")
    assert ledger.find("a", is_running=False) == {"kind": "done"}


def test_a_running_action_has_no_result_yet() -> None:
    ledger = IdempotencyTable()
    ledger.begin("a")
    assert ledger.find("a", is_running=True) is None


def test_old_results_go_but_not_the_knowledge_that_they_were() -> None:
    ledger = IdempotencyTable(kept_results=2)
    for name in "abc":
        ledger.begin(name)
        ledger.finish(name, {"kind": name})
    assert not ledger.begin("a")
    assert ledger.find("a", is_running=False) == {
        "kind": "error",
        "reason": "unknown",
        "text": "this action has run; its result is no longer known",
    }
    assert ledger.find("c", is_running=False) == {"kind": "c"}
