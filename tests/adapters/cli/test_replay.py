"""`patchwright replay` shows a recorded run, and runs it again."""

import re
from pathlib import Path

import pytest

from patchwright.core.events.types import Event
from tests.adapters.cli.terminal import Ended, Shop
from tests.fakes.llm.provider import FakeProvider
from tests.flow.story import fix_turns
from tests.unit.trajectory.recorded import (
    TASK,
    asked,
    numbered,
    outcome,
    replied,
    started,
    whole_run,
)

# Each runs the whole program, some of them several times.
pytestmark = pytest.mark.long

SHOWN = """\
Wrong sum
run 7f3a12bc · 1a2b3c4d5e on trunk · openai/gpt-x · 2030-01-01 12:00 UTC · \
patchwright 0.1.0
limits 50 steps · $3.00 · 2,000,000 tokens · 30m 0s

step   tokens     cost
   ·                    system says: Fix the sum.
   ·                    running
   1    1,050  $0.0100  shell python3 -m unittest  exit 1
   2    1,050  $0.0100  delegate Find the callers.  resolved after 1 step
   ·                    │ system says: Find the callers.
   3    1,050  $0.0100  │ shell grep -r total  exit 0
   ·        0       $?  asked a model to condense: Looked.
   ·                    condensed from 9,000 to 2,000 bytes, with a summary
   ·                    loop: shell ls
   4    1,050  $0.0100  write cart.py  +2 -1
                        finish The pieces were ignored.
   ·                    finished
   ·                    before the change: exit 1: python3 -m unittest test_pieces
   ·                    after the change: exit 0: python3 -m unittest test_pieces

model calls: 5 · 4,000 tokens in, 200 out · at least $0.0400 · 6s waited
  main: 3 · 3,000 tokens in, 150 out · $0.03 · 4s waited
  delegate: 1 · 1,000 tokens in, 50 out · $0.01 · 2s waited
  condense: 1 · 0 tokens in, 0 out · price unknown · 0s waited
  openai/gpt-x: 4 · 4,000 tokens in, 200 out · $0.04 · 6s waited
  openai/mini: 1 · 0 tokens in, 0 out · price unknown · 0s waited
resolved, proven · 4 steps · 21s · $0.05
Proven.
The agent wrote:
> The pieces were ignored.
"""
STEP = """\
step 4 openai/gpt-x · 1,050 tokens · $0.0100 · 1.5 s

write {}
--- a/cart.py
+++ b/cart.py
@@ -1 +1,2 @@
-y
+x = 1
+z

finish {}
[noted]
"""


def write_log(folder: Path, events: list[Event], name: str = "run.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(f"{one.model_dump_json()}\n" for one in events))
    return path


def test_a_run_is_shown_line_by_line_without_colours_in_a_pipe(shop: Shop) -> None:
    write_log(shop.folder, whole_run())
    ended = shop.call("replay", "run.jsonl")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == SHOWN


def test_a_step_is_shown_in_full(shop: Shop) -> None:
    write_log(shop.folder, whole_run())
    assert shop.call("replay", "run.jsonl", "--step", "4").out == STEP
    answer = shop.call("replay", "run.jsonl", "--step", "4", "--json").answer
    assert answer["step"]["number"] == 4
    assert [one["id"] for one in answer["events"]] == [17, 18, 19, 20, 21]
    missing = shop.call("replay", "run.jsonl", "--step", "5")
    assert (missing.code, missing.err) == (2, "error: --step: the run has 4 steps\n")


def test_json_is_one_object_with_steps_metrics_and_outcome(shop: Shop) -> None:
    write_log(shop.folder, whole_run())
    answer = shop.call("replay", "run.jsonl", "--json").answer
    assert list(answer) == ["run", "steps", "remarks", "metrics", "outcome"]
    assert answer["run"]["run_id"] == "7f3a12bc0d9e"
    assert [step["depth"] for step in answer["steps"]] == [0, 0, 1, 0]
    assert answer["steps"][0]["acts"][0]["result"] == {"text": "exit 1", "tone": "bad"}
    assert answer["metrics"]["total"]["unpriced"] == 1
    assert answer["metrics"]["total"]["usage"]["cost_usd"] is None
    assert answer["outcome"]["kind"] == "resolved"


def test_words_of_others_do_not_steer_the_terminal(shop: Shop) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J"
    task = TASK.replace(title=f"Title{evil}")
    steps = [started(task=task), asked(evil), replied(cause=2, text=f"said{evil}")]
    write_log(shop.folder, numbered([*steps, outcome()]))
    for options in ([], ["--step", "1"]):
        shown = shop.call("replay", "run.jsonl", *options).out
        assert "\x1b" not in shown
        assert "\x07" not in shown


def test_one_of_several_runs_is_chosen(shop: Shop) -> None:
    first = [started("aaa1"), asked(), outcome()]
    second = [started("bbb2"), asked("Now this."), outcome()]
    write_log(shop.folder, numbered([*first, *second]))
    unclear = shop.call("replay", "run.jsonl")
    assert unclear.code == 2
    assert "run.jsonl has 2 runs; choose one with --run" in unclear.err
    assert "bbb2  resolved  Wrong sum" in unclear.err
    assert (
        "system says: Now this." in shop.call("replay", "run.jsonl", "--run", "b").out
    )
    assert shop.call("replay", "run.jsonl", "--run", "c").code == 2


def test_an_exported_run_is_the_same_run(shop: Shop) -> None:
    write_log(shop.folder, whole_run())
    exported = shop.call("replay", "run.jsonl", "--export", "run.json")
    assert (exported.code, exported.out) == (0, "")
    assert shop.call("replay", "run.json").out == SHOWN
    again = shop.call("replay", "run.jsonl", "--export", "run.json")
    assert (again.code, again.err) == (2, "error: --export: run.json: File exists\n")


FAULTS = [
    ("", "bad is empty"),
    ("{}\n", "line 1"),
    ('{"format": "x"}', "`format` is 'x'"),
    ('{"format": "patchwright-trajectory", "version": 99}', "`version` is 99"),
    ('{"format": "patchwright-trajectory", "version": 1, "run": {}}', "events"),
    ("not JSON\n", "line 1"),
]


@pytest.mark.parametrize(("text", "problem"), FAULTS)
def test_what_is_no_run_is_said_so(text: str, problem: str, shop: Shop) -> None:
    (shop.folder / "bad").write_text(text)
    ended = shop.call("replay", "bad")
    assert ended.code in (2, 3)
    assert problem in " ".join(ended.err.split())
    assert "bad" in ended.err
    assert "Traceback" not in ended.err


def test_a_run_of_this_machine_is_found_by_the_beginning_of_its_id(shop: Shop) -> None:
    runs = shop.folder / "state" / "runs"
    runs.mkdir(parents=True)
    write_log(runs, whole_run(), "7f3a12bc0d9e.jsonl")
    for beginning in ("7f3a12bc", "7f", "7f3a12bc0d9e"):
        ended = shop.call("replay", beginning)
        assert (ended.code, ended.err, ended.out) == (0, "", SHOWN)
    shown = shop.call("replay", "7f3a", "--step", "4")
    assert shown.out == STEP
    for unknown, said in (
        ("7f3b", "did you mean 7f3a12bc?"),
        ("zzzz", "`patchwright runs list` shows all runs"),
    ):
        ended = shop.call("replay", unknown)
        assert ended.code == 2
        assert ended.err == (
            f"error: there is no file {unknown!r}, and no run id begins with "
            f"{unknown!r}; {said}\n"
        )


def test_a_missing_file_is_wrong_usage(shop: Shop) -> None:
    ended = shop.call("replay", "nowhere.jsonl")
    assert ended.code == 2
    assert "nowhere.jsonl cannot be read: No such file" in ended.err


def test_rerun_needs_a_repository_with_the_commit(shop: Shop) -> None:
    write_log(shop.folder, whole_run())
    assert shop.call("replay", "run.jsonl", "--rerun").code == 2
    assert shop.call("replay", "run.jsonl", "-C", "shop").code == 2
    missing = shop.call("replay", "run.jsonl", "--rerun", "-C", "shop")
    assert missing.code == 2
    assert TASK.base_sha in missing.err


def test_a_real_run_is_run_again_at_no_cost(shop: Shop) -> None:
    _record(shop)
    refs = shop.tree.git("for-each-ref")
    ended = _rerun(shop, "--json")
    assert (ended.code, ended.err) == (0, "")
    answer = ended.answer
    assert answer["same"] is True
    assert answer["differences"] == []
    assert answer["results_same"] == answer["results_compared"] == 4
    assert (answer["outcome"], answer["proof"]) == ("resolved", "proven")
    [branch] = shop.branches()
    assert answer["tree"] == shop.tree.git("rev-parse", f"{branch}^{{tree}}")
    assert shop.tree.git("for-each-ref") == refs
    assert shop.sandboxes() == []


def test_what_is_different_is_listed(shop: Shop) -> None:
    path = _record(shop)
    path.write_text(path.read_text().replace('"exit_code":1', '"exit_code":5', 1))
    ended = _rerun(shop)
    assert ended.code == 1
    shown = re.sub(r"[0-9a-f]{40}", "TREE", ended.out)
    assert (
        shown
        == """\
different  3 of 4 results in 4 steps are the same
✗ step 2: shell python3 -m unittest test_pieces: exit 5 then, exit 1 now
run: Wrong sum
outcome: resolved, proven
tree: TREE
"""
    )


def test_a_run_that_cannot_be_run_again_is_said_so(shop: Shop) -> None:
    _record(shop)
    settings = {"PATCHWRIGHT_SANDBOX__KIND": "docker", "DOCKER_HOST": "tcp://[::1]:9"}
    ended = shop.call("replay", "run.jsonl", "--rerun", "-C", "shop", settings=settings)
    assert ended.code == 3
    assert "Traceback" not in ended.err


def _record(shop: Shop) -> Path:
    with FakeProvider(fix_turns()) as provider:
        ended = shop.resolve(provider, "--events", "run.jsonl", "--json")
    assert ended.code == 0, ended.err
    return shop.folder / "run.jsonl"


def _rerun(shop: Shop, *options: str) -> Ended:
    return shop.call("replay", "run.jsonl", "--rerun", "-C", "shop", *options)
