"""An issue in a file is resolved in a repository on this machine."""

import json
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from patchwright.core.events.observations import ResultDelivered
from patchwright.core.events.types import Event
from tests.adapters.cli.terminal import PATIENCE_S, Ended, Shop, steady
from tests.adapters.git.workshop import WorkTree
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import TurnLike, call, status
from tests.flow.story import CART, TEST_CART, fix_turns

PROMISED = [
    "outcome",
    "reason",
    "proof",
    "proof_reason",
    "proof_sentence",
    "proof_base_sha",
    "proof_head_sha",
    "proof_is_rerun",
    "proof_rounds",
    "tests",
    "newly_failing",
    "altered",
    "flaky",
    "uncovered",
    "hunks",
    "suite",
    "evidence",
    "warnings",
    "notes",
    "summary",
    "branch",
    "base_sha",
    "head_sha",
    "pr_url",
    "patch",
    "files",
    "cost_usd",
    "tokens",
    "iterations",
    "seconds",
    "run_id",
    "events",
    "left_out",
]
EVIDENCE_KEYS = (
    *("role", "command", "commit", "status", "exit_code", "seconds", "digest"),
    *("results", "tail"),
)
NEW_BRANCH = "patchwright/count-every-piece"


def test_json_is_one_object_with_the_promised_keys(shop: Shop) -> None:
    with FakeProvider(fix_turns()) as provider:
        process = shop.start("resolve", *shop.local(), "--json", provider=provider)
        out, err = process.communicate(timeout=PATIENCE_S)
    ended = Ended(process.returncode, out, err)
    assert (ended.code, ended.err) == (0, "")
    answer = ended.answer
    assert list(answer) == PROMISED
    assert (answer["outcome"], answer["proof"]) == ("resolved", "proven")
    assert (answer["reason"], answer["pr_url"]) == ("", None)
    assert answer["summary"] == "The total ignored the pieces."
    assert answer["base_sha"] == shop.base
    assert answer["branch"] == NEW_BRANCH
    assert shop.tree.git("rev-parse", NEW_BRANCH) == answer["head_sha"]
    assert answer["cost_usd"] is None
    assert answer["tokens"] == {"in": 400, "out": 80, "cached": 0}
    assert answer["iterations"] == 4
    assert Path(answer["events"]).name == f"{answer['run_id']}.jsonl"
    assert [
        (one["role"], one["exit_code"], one["command"]) for one in answer["evidence"]
    ] == [
        ("before", 1, "python3 -m unittest test_pieces"),
        ("after", 0, "python3 -m unittest test_pieces"),
        ("suite-before", 0, "python3 -m unittest test_cart.py"),
        ("suite-after", 0, "python3 -m unittest test_cart.py"),
    ]
    assert {tuple(one) for one in answer["evidence"]} == {EVIDENCE_KEYS}
    assert answer["proof_head_sha"] == answer["head_sha"]
    assert "FAILED" in answer["evidence"][0]["tail"]
    assert provider.refused == []


def test_work_tree_and_index_stay_as_they_are(shop: Shop) -> None:
    shop.tree.write("cart.py", b"half done\n")
    shop.tree.write("staged.py", b"x = 1\n")
    shop.tree.git("add", "staged.py")
    shop.tree.write("untracked.txt", b"mine\n")
    status_before = shop.tree.git("status", "--porcelain=v2", "--branch")
    index_before = (shop.tree.path / ".git" / "index").read_bytes()
    with FakeProvider(fix_turns()) as provider:
        ended = shop.resolve(provider)
    assert ended.code == 0, ended.err
    assert (
        "note:          The run did not see changes that are not committed."
        in ended.out
    )
    assert shop.tree.git("status", "--porcelain=v2", "--branch") == status_before
    assert (shop.tree.path / ".git" / "index").read_bytes() == index_before
    assert (shop.tree.path / "cart.py").read_bytes() == b"half done\n"
    changed = shop.tree.git("diff", "--name-only", shop.base, NEW_BRANCH)
    assert changed.splitlines() == ["cart.py", "test_pieces.py"]


def test_a_branch_of_that_name_is_left_alone(shop: Shop) -> None:
    shop.tree.git("branch", NEW_BRANCH)
    with FakeProvider(fix_turns()) as provider:
        answer = shop.resolve(provider, "--json").answer
    assert shop.tree.git("rev-parse", NEW_BRANCH) == shop.base
    assert answer["branch"] == f"{NEW_BRANCH}-{answer['run_id'][:8]}"
    assert shop.tree.git("rev-parse", answer["branch"]) == answer["head_sha"]


def test_a_branch_called_like_our_prefix_does_not_lose_the_change(shop: Shop) -> None:
    shop.tree.git("branch", "patchwright")
    with FakeProvider(fix_turns()) as provider:
        ended = shop.resolve(provider, "--json")
    assert ended.code == 0, ended.err
    assert ended.answer["branch"] == NEW_BRANCH.replace("/", "-")
    made = shop.tree.git("rev-parse", ended.answer["branch"])
    assert made == ended.answer["head_sha"]


@pytest.mark.parametrize("options", [("--depth=1",), ("--filter=blob:none",)])
def test_a_clone_without_its_whole_history_is_worked_on(
    shop: Shop, options: tuple[str, ...]
) -> None:
    """Shallow, as CI clones; or partial, and its origin is away."""
    source = _clone(shop, *options)
    source.rename(shop.folder / "away")
    with FakeProvider(fix_turns()) as provider:
        ended = shop.resolve(provider, "--json")
    assert (ended.code, ended.answer["proof"]) == (0, "proven"), ended.err
    made = shop.tree.git("rev-parse", NEW_BRANCH, f"{NEW_BRANCH}^").splitlines()
    assert made == [ended.answer["head_sha"], shop.tree.head]


def test_a_partial_clone_without_the_files_names_them(shop: Shop) -> None:
    _clone(shop, "--filter=blob:none", "--no-checkout")
    with FakeProvider([]) as provider:
        ended = shop.resolve(provider, "--json")
    assert ended.code == 2
    assert "lacks files of the commit" in ended.answer["summary"]
    assert "cart.py, test_cart.py. Fetch them with" in ended.answer["summary"]
    shop.tree.git("fetch", "--quiet", "--refetch", "--no-filter")
    with FakeProvider(fix_turns()) as provider:
        ended = shop.resolve(provider, "--json")
    assert (ended.code, ended.answer["proof"]) == (0, "proven"), ended.err


def test_a_repository_of_sha_256_is_worked_on(shop: Shop) -> None:
    shutil.rmtree(shop.tree.path)
    shop.tree.path.mkdir()
    start = ("init", "--quiet", "--object-format=sha256", "--initial-branch=trunk")
    shop.tree.git(*start)
    shop.tree.write("cart.py", CART.encode())
    shop.tree.write("test_cart.py", TEST_CART.encode())
    base = shop.tree.commit()
    with FakeProvider(fix_turns()) as provider:
        ended = shop.resolve(provider, "--json")
    assert (ended.code, ended.answer["proof"]) == (0, "proven"), ended.err
    assert (len(base), ended.answer["base_sha"]) == (64, base)
    assert shop.tree.git("rev-parse", NEW_BRANCH) == ended.answer["head_sha"]


def _clone(shop: Shop, *options: str) -> Path:
    """Put a clone in the shop's place, and return where its origin is."""
    shop.tree.write("cart.py", b"def total(prices, pieces):\n    return 0\n")
    shop.tree.commit("Try something")
    shop.tree.git("config", "uploadpack.allowFilter", "true")
    shop.tree.write("cart.py", CART.encode())
    shop.tree.commit("Go back")
    source = shop.tree.path.rename(shop.folder / "origin")
    clone = ("clone", "--quiet", *options, source.as_uri(), "shop")
    WorkTree(shop.folder).git(*clone)
    return source


def test_a_patch_can_be_applied_elsewhere(shop: Shop) -> None:
    with FakeProvider(fix_turns()) as provider:
        ended = shop.resolve(provider, "--deliver", "patch", "--json")
    assert ended.answer["branch"] is None
    assert shop.branches() == []
    [patch] = shop.folder.glob("*.patch")
    assert ended.answer["patch"] == str(patch)
    elsewhere = WorkTree(shop.folder)
    elsewhere.git("clone", "--quiet", "shop", "copy")
    copy = WorkTree(shop.folder / "copy")
    copy.git("am", "--quiet", str(patch))
    assert copy.git("show", "-s", "--format=%s") == "Count every piece"
    assert "zip(prices, pieces)" in (copy.path / "cart.py").read_text()


def test_nothing_is_delivered_where_nothing_is_wanted(shop: Shop) -> None:
    with FakeProvider(fix_turns()) as provider:
        ended = shop.resolve(
            provider, "--deliver", "none", "--json", "--events", "run.jsonl"
        )
    assert (ended.answer["outcome"], ended.answer["branch"]) == ("resolved", None)
    assert ended.answer["events"] == "run.jsonl"
    assert shop.branches() == []
    assert list(shop.folder.glob("*.patch")) == []
    lines = (shop.folder / "run.jsonl").read_text().splitlines()
    events = [Event.model_validate_json(line) for line in lines]
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    assert isinstance(events[-1].payload, ResultDelivered)


SHOWN = """\
resolved, proven · 4 steps · Ns · 480 tokens, price unknown
  cart.py         +1 -1
  test_pieces.py  +8
  2 files changed: 9 lines added, 1 removed
Proven: in fresh sandboxes, the test fails without the change and passes with it, and \
no test that passed before fails now.
without  with it  test
failed   passed   test_pieces.PiecesTest.test_every_piece_counts
                  AssertionError: 450 != 1350
repository's own tests: python3 -m unittest test_cart.py, 1 test compared
coverage: 1 of 1 changed part removed in turn
commits: base COMMIT, head COMMIT
without the change         exit 1   python3 -m unittest test_pieces  COMMIT, N s
with it                    exit 0   python3 -m unittest test_pieces  COMMIT, N s
own tests, without it      exit 0   python3 -m unittest test_cart.py  COMMIT, N s
own tests, with it         exit 0   python3 -m unittest test_cart.py  COMMIT, N s
The agent wrote:
> The total ignored the pieces.
branch:        patchwright/count-every-piece
next:          git -C SHOP diff trunk...patchwright/count-every-piece
               git -C SHOP merge patchwright/count-every-piece
               patchwright replay RUN
"""


def test_people_read_lines_without_colours_in_a_pipe(shop: Shop) -> None:
    with FakeProvider(fix_turns()) as provider:
        ended = shop.resolve(provider)
    shown = steady(ended.out).replace(str(shop.folder / "shop"), "SHOP")
    assert shown == SHOWN
    assert (
        steady(ended.err)
        == """\
✓ Repository checked out in a bubblewrap sandbox
  1  write test_pieces.py  +8 -0
  2  $ python3 -m unittest test_pieces
       exit 1
  3  edit cart.py  +1 -1
  4  finish: Count every piece
✓ Change made
✓ `python3 -m unittest test_pieces` before the change: exit 1
✓ `python3 -m unittest test_pieces` after the change: exit 0
✓ `python3 -m unittest test_cart.py` the repository's own tests, before the change: \
exit 0
✓ `python3 -m unittest test_cart.py` the repository's own tests, after the change: \
exit 0
"""
    )


def test_every_event_is_printed_as_it_comes_and_then_the_result(shop: Shop) -> None:
    with FakeProvider(fix_turns()) as provider:
        ended = shop.resolve(provider, "--json-stream")
    *events, result = [json.loads(line) for line in ended.out.splitlines()]
    assert (ended.code, ended.err) == (0, "")
    log = shop.folder / "state" / "runs" / f"{shop.run_id()}.jsonl"
    stored = [json.loads(line) for line in log.read_text().splitlines()]
    assert events == [{"type": "event", **one} for one in stored]
    assert list(result) == ["type", *PROMISED]
    assert (result["type"], result["outcome"]) == ("result", "resolved")
    assert result["files"] == [
        {"path": "cart.py", "insertions": 1, "deletions": 1},
        {"path": "test_pieces.py", "insertions": 8, "deletions": 0},
    ]


def test_a_stream_and_one_object_exclude_each_other(shop: Shop) -> None:
    ended = shop.call("resolve", *shop.local(), "--json", "--json-stream")
    assert ended.code == 2
    [line] = ended.out.splitlines()
    assert json.loads(line)["type"] == "result"
    assert " ".join(ended.err.split()) == (
        "error: --json prints one object and --json-stream one a line: choose one of "
        "them"
    )


@contextmanager
def gone_after_one_look() -> Iterator[str]:
    """Lend an address where somebody listens until one connection was made."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        host, port = server.getsockname()

        def serve() -> None:
            connection, _ = server.accept()
            server.close()
            connection.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"{host}:{port}"
        thread.join(PATIENCE_S)


def test_u3_a_first_call_that_cannot_connect_ends_the_run_soon(shop: Shop) -> None:
    with gone_after_one_look() as address:
        ended = shop.call(
            *("resolve", *shop.local()),
            settings={"LLM_BASE_URL": f"http://{address}/v1"},
        )
    assert ended.code == 3, ended.err
    [gave_up_s] = re.findall(r"gave up after (\d+) s", ended.out)
    assert int(gave_up_s) <= 30
    said = re.sub(r"\b\d+ s\b", "N s", steady(ended.out))
    assert (
        said
        == f"""\
failed (model-unavailable) · 1 step · Ns · $0.00
Cannot reach the model openai/scripted at {address} (connection refused); \
gave up after N s. Check `llm.base_url`.
next:          patchwright replay RUN
"""
    )
    waits = re.sub(r"\b\d+ s\b", "N s", ended.err)
    cannot = f"Cannot reach the model at {address} (connection refused)"
    assert (
        waits
        == f"""\
✓ Repository checked out in a bubblewrap sandbox
{cannot}. Retrying in N s, try 2 of 5
{cannot}. Retrying in N s, try 3 of 5
{cannot}. Retrying in N s, try 4 of 5
{cannot}. Retrying in N s, try 5 of 5
  1  the model did not answer (model-unavailable)
"""
    )


ENDINGS: list[tuple[TurnLike, str, str, int]] = [
    (call("finish", summary="It is right."), "no-change", "", 1),
    (call("finish", summary="x", answer="It adds them."), "answered", "", 0),
    (call("reject", reason="It would."), "refused", "agent-declined", 1),
    (call("shell", command="true"), "over-limit", "iterations", 1),
    (status(401, "Incorrect API key"), "failed", "model-credential", 3),
    (status(404, "no such model"), "failed", "model-request", 3),
]


@pytest.mark.parametrize(
    ("turn", "outcome", "reason", "code"),
    ENDINGS,
    ids=[f"{outcome}-{reason}" for _, outcome, reason, _ in ENDINGS],
)
def test_s41_every_ending_prints_one_object_and_has_its_exit_code(
    turn: TurnLike, outcome: str, reason: str, code: int, shop: Shop
) -> None:
    with FakeProvider([turn]) as provider:
        ended = shop.resolve(provider, "--json", "--max-iterations", "1")
    assert (ended.answer["outcome"], ended.answer["reason"]) == (outcome, reason)
    assert ended.code == code
    assert ended.answer["head_sha"] is None
    assert shop.branches() == []
    assert shop.sandboxes() == []


def test_the_repository_says_how_a_change_is_prepared_and_proven(shop: Shop) -> None:
    shop.tree.write(
        ".patchwright.toml",
        b'evidence = "off"\nsetup = ["exit 3"]\non_setup_failure = "continue"\n',
    )
    shop.base = shop.tree.commit()
    with FakeProvider(fix_turns()) as provider:
        answer = shop.resolve(provider, "--json").answer
    assert (answer["outcome"], answer["proof"]) == ("resolved", "none")
    assert answer["evidence"] == []
