"""A user's checkout stays as it was until they want the change in it."""

import os
import signal
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.adapters.cli.terminal import Shop, interrupt
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import TurnLike, call, hang
from tests.flow.story import CART, fix_turns

# Each runs the whole program, some of them several times.
pytestmark = pytest.mark.long

NEW_BRANCH = "patchwright/count-every-piece"
NEW_REF = f"refs/heads/{NEW_BRANCH}"
HOOK = "#!/bin/sh\ntouch ../hook-was-run\n"
UNPROVEN = [
    call("write", path="test_pieces.py", content="pass\n"),
    *fix_turns()[1:3],
    call("finish", title="Count every piece", summary="Done.", test_commands=["false"]),
]
FIXED = CART.replace("sum(prices)", "sum(p * n for p, n in zip(prices, pieces))")


def live_in(shop: Shop) -> None:
    """Leave the checkout as people do: staged, changed, stashed, hooks and settings."""
    tree = shop.tree
    tree.write("stashed.py", b"stashed = True\n")
    tree.git("add", "stashed.py")
    tree.git("stash")
    tree.write("staged.py", b"staged = True\n")
    tree.git("add", "staged.py")
    tree.write(
        "test_cart.py", (tree.path / "test_cart.py").read_bytes() + b"\n# mine\n"
    )
    tree.write("notes.txt", b"not for git\n")
    tree.git("config", "core.autocrlf", "false")
    tree.git("config", "alias.st", "status")
    hooks = tree.path / ".git" / "hooks"
    for name in ("post-checkout", "pre-commit", "reference-transaction", "post-merge"):
        hooks.mkdir(exist_ok=True)
        (hooks / name).write_text(HOOK)
        (hooks / name).chmod(0o755)


def whole(shop: Shop) -> Mapping[str, tuple[int, bytes]]:
    """Return every file of the checkout and of git's, but for its objects."""
    root = shop.tree.path
    files = (one for one in root.rglob("*") if not one.is_dir())
    names = ((one, str(one.relative_to(root))) for one in files)
    return {
        name: (stat.S_IMODE(one.lstat().st_mode), _content(one))
        for one, name in names
        if not name.startswith(".git/objects/")
    }


def news(
    before: Mapping[str, tuple[int, bytes]], after: Mapping[str, tuple[int, bytes]]
) -> set[str]:
    both = before.keys() | after.keys()
    return {name for name in both if before.get(name) != after.get(name)}


@pytest.mark.parametrize(
    ("turns", "code", "changed"),
    [
        (fix_turns(), 0, {f".git/{NEW_REF}", f".git/logs/{NEW_REF}"}),
        (["I do not know."] * 5, 1, set()),
        ([call("shell", command="kill -9 $PPID")] * 20, None, set()),
    ],
    ids=["success", "no change", "trouble"],
)
def test_a_run_adds_a_branch_at_most(
    turns: list[TurnLike], code: int | None, changed: set[str], shop: Shop
) -> None:
    live_in(shop)
    before = whole(shop)
    with FakeProvider(turns) as provider:
        ended = shop.resolve(provider, "--max-iterations", "6")
    assert code in (None, ended.code), ended.err
    assert news(before, whole(shop)) == changed
    assert not (shop.folder / "hook-was-run").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_nothing(number: signal.Signals, shop: Shop) -> None:
    live_in(shop)
    before = whole(shop)
    with FakeProvider([*fix_turns()[:3], hang()]) as provider:
        arguments = ("resolve", *shop.local(), "--deliver", "none")
        process = shop.start(*arguments, provider=provider)
        interrupt(process, lambda: len(provider.requests) == 4, number)
        out, err = process.communicate(timeout=60)
    assert news(before, whole(shop)) == set()
    if number is signal.SIGINT:
        assert "The work was not kept, because of --deliver none." in out
        assert "patchwright replay" in out
        assert "Stopping: " in err
    assert not (shop.folder / "hook-was-run").exists()


@pytest.mark.parametrize(
    ("turns", "proof"), [(fix_turns(), "proven"), (UNPROVEN, "not-proven")]
)
def test_a_change_is_applied_if_that_is_wanted(
    turns: list[TurnLike], proof: str, shop: Shop
) -> None:
    live_in(shop)
    before = whole(shop)
    with FakeProvider(turns) as provider:
        ended = shop.resolve(provider, "--apply", "--deliver", "none", "--json")
    assert ended.answer["proof"] == proof
    assert news(before, whole(shop)) == {"cart.py", "test_pieces.py"}
    assert (shop.tree.path / "cart.py").read_text() == FIXED
    assert not (shop.folder / "hook-was-run").exists()


@pytest.mark.parametrize("mine", ["cart.py", "test_pieces.py"])
def test_nothing_of_the_users_own_is_overwritten(mine: str, shop: Shop) -> None:
    shop.tree.write(mine, b"total = None  # mine\n")
    before = whole(shop)
    with FakeProvider(fix_turns()) as provider:
        ended = shop.resolve(provider, "--apply", "--deliver", "none")
    assert ended.code == 1
    assert ended.out.startswith("resolved")
    assert "not delivered: to your work tree, because it would overwrite" in ended.out
    assert f"run `git merge {NEW_BRANCH}`" in ended.out
    assert mine in ended.out.partition("not delivered")[2]
    assert shop.branches() == [NEW_BRANCH]
    assert {one for one in news(before, whole(shop)) if ".git/" not in one} == set()


def test_what_is_changed_elsewhere_in_a_file_stays(shop: Shop) -> None:
    mine = CART.replace("What a customer", "What any customer")
    shop.tree.write("cart.py", mine.encode())
    with FakeProvider(fix_turns()) as provider:
        assert shop.resolve(provider, "--apply").code == 0
    merged = FIXED.replace("What a customer", "What any customer")
    assert (shop.tree.path / "cart.py").read_text() == merged


def _content(path: Path) -> bytes:
    return os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
