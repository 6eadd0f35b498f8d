"""A change that somebody has made on a branch is proven, without a model."""

import pytest

from tests.adapters.cli.terminal import Ended, Shop
from tests.adapters.git.workshop import WorkTree
from tests.flow.story import CART, NEW_TEST

COMMAND = "python3 -m unittest test_pieces"
FIXED = CART.replace("sum(prices)", "sum(p * n for p, n in zip(prices, pieces))")
BROKEN = CART.replace("sum(prices)", "sum(prices) - 1")
KEYS = {
    *("proof", "proof_reason", "proof_sentence", "proof_base_sha", "proof_head_sha"),
    *("proof_is_rerun", "proof_rounds", "tests", "newly_failing", "altered", "flaky"),
    *("uncovered", "hunks", "suite", "evidence", "reason", "error", "base_sha"),
    *("head_sha", "warnings", "notes"),
}


def make_branch(shop: Shop, files: dict[str, str], name: str = "topic") -> str:
    """Commit files on a branch of their own, and go back to the trunk."""
    shop.tree.git("checkout", "--quiet", "-b", name)
    for path, text in files.items():
        shop.tree.write(path, text.encode())
    head = shop.tree.commit()
    shop.tree.git("checkout", "--quiet", "trunk")
    return head


def prove(shop: Shop, *options: str, head: str = "topic") -> Ended:
    return shop.call("prove", "-C", "shop", "--base", "trunk", "--head", head, *options)


def test_a_true_fix_is_proven_and_named_as_one(shop: Shop) -> None:
    head = make_branch(shop, {"cart.py": FIXED, "test_pieces.py": NEW_TEST})
    ended = prove(shop, "--test", COMMAND)
    assert ended.code == 0, ended
    assert ended.out.startswith("Proven: ")
    assert COMMAND in ended.out
    assert f"Proving {shop.base[:10]}..{head[:10]}: 2 files, +9 -1" in ended.err
    assert shop.sandboxes() == []
    assert shop.branches() == ["topic"]
    assert not (shop.folder / "state" / "runs").exists()


def test_json_is_one_object_with_all_of_it(shop: Shop) -> None:
    head = make_branch(shop, {"cart.py": FIXED, "test_pieces.py": NEW_TEST})
    ended = prove(shop, "--test", COMMAND, "--json")
    assert (ended.code, ended.err) == (0, "")
    answer = ended.answer
    assert answer.keys() == KEYS
    assert (answer["proof"], answer["reason"]) == ("proven", "red-to-green")
    assert (answer["base_sha"], answer["head_sha"]) == (shop.base, head)
    assert answer["error"] is None
    runs = [(one["role"], one["exit_code"]) for one in answer["evidence"]]
    assert runs[:2] == [("before", 1), ("after", 0)]


def test_the_base_is_where_the_branch_began(shop: Shop) -> None:
    make_branch(shop, {"cart.py": FIXED, "test_pieces.py": NEW_TEST})
    shop.tree.write("test_cart.py", b"raise RuntimeError('of somebody else')\n")
    shop.tree.commit()
    ended = prove(shop, "--test", COMMAND, "--json")
    assert (ended.code, ended.answer["base_sha"]) == (0, shop.base)


def test_a_change_that_breaks_its_own_test_is_contradicted(shop: Shop) -> None:
    make_branch(shop, {"cart.py": BROKEN, "test_pieces.py": NEW_TEST})
    ended = prove(shop, "--test", COMMAND)
    assert ended.code == 1
    assert ended.out.startswith("Contradicted: ")
    assert "    AssertionError: " in ended.out
    assert prove(shop, "--test", COMMAND, "--json").answer["proof"] == "contradicted"


def test_a_test_that_is_green_without_the_change_proves_nothing(shop: Shop) -> None:
    make_branch(shop, {"cart.py": FIXED})
    ended = prove(shop, "--test", "python3 -m unittest test_cart", "--json")
    assert ended.code == 1
    assert ended.answer["proof"] == "not-proven"
    assert ended.answer["reason"] == "green-without-change"


def test_a_command_that_is_no_test_is_called_one(shop: Shop) -> None:
    make_branch(shop, {"cart.py": f"{CART}# FIXED\n"})
    ended = prove(shop, "--test", "grep -q FIXED cart.py", "--json")
    assert (ended.code, ended.answer["proof"]) == (1, "shown-by-command")


def test_the_repositorys_own_settings_from_before_the_change_hold(shop: Shop) -> None:
    config = f'test = ["{COMMAND}"]\nsetup = ["touch prepared"]\n'
    shop.tree.write(".patchwright.toml", config.encode())
    shop.tree.commit()
    test = NEW_TEST.replace(
        "import unittest",
        "import os\nimport unittest\n\nassert os.path.exists('prepared')",
    )
    files = {"cart.py": FIXED, "test_pieces.py": test}
    make_branch(shop, {**files, ".patchwright.toml": 'setup = ["exit 1"]\n'})
    ended = prove(shop, "--test", COMMAND, "--json")
    after = [one for one in ended.answer["evidence"] if one["role"] == "after"]
    assert [one["exit_code"] for one in after] == [0], ended


def test_another_set_up_can_be_given(shop: Shop) -> None:
    make_branch(shop, {"cart.py": FIXED, "test_pieces.py": NEW_TEST})
    failed = prove(shop, "--test", COMMAND, "--setup", "exit 3", "--json")
    assert failed.code == 3
    assert failed.answer["proof"] == "not-proven"
    assert "set-up failed (exit 3)" in failed.answer["error"]
    kept = prove(shop, "--test", COMMAND, "--setup", "true", "--json")
    assert (kept.code, kept.answer["proof"]) == (0, "proven")


def test_a_change_to_how_tests_are_run_is_no_proof(shop: Shop) -> None:
    files = {
        "cart.py": FIXED,
        "test_pieces.py": NEW_TEST,
        "conftest.py": "def pytest_collection_modifyitems(items):\n    items[:] = []\n",
    }
    make_branch(shop, files)
    ended = prove(shop, "--test", COMMAND, "--json")
    assert ended.code == 1
    assert ended.answer["proof"] != "proven"
    assert any("conftest.py" in one for one in ended.answer["warnings"])


def test_uncommitted_changes_are_not_seen_and_that_is_said(shop: Shop) -> None:
    make_branch(shop, {"cart.py": FIXED, "test_pieces.py": NEW_TEST})
    shop.tree.git("checkout", "--quiet", "topic")
    shop.tree.write("cart.py", b"half done\n")
    ended = prove(shop, "--test", COMMAND, head="HEAD")
    assert ended.code == 0, ended
    assert "note: Uncommitted changes were ignored." in ended.out
    assert (shop.tree.path / "cart.py").read_bytes() == b"half done\n"


@pytest.mark.parametrize(
    ("base", "head", "words"),
    [
        ("nowhere", "topic", "--base: 'nowhere' is not a commit, branch or tag"),
        ("trunk", "topicc", "--head: 'topicc' is not a commit, branch or tag"),
        ("trunk", "trunk", "there is no change to prove"),
        ("topic", "trunk", "is part of"),
        ("trunk", "other", "their histories are not related"),
        ("trunk", "empty", "has the same files as"),
        ("--all", "topic", "--base"),
    ],
)
def test_what_cannot_be_compared_is_wrong_usage(
    shop: Shop, base: str, head: str, words: str
) -> None:
    make_branch(shop, {"cart.py": FIXED})
    shop.tree.git("checkout", "--quiet", "-b", "empty")
    shop.tree.git("commit", "--quiet", "--allow-empty", "--message=Nothing")
    shop.tree.git("checkout", "--quiet", "--orphan", "other")
    shop.tree.write("other.txt", b"another beginning\n")
    shop.tree.commit()
    ended = shop.call(
        "prove", "-C", "shop", f"--base={base}", f"--head={head}", "--json"
    )
    assert ended.code == 2, ended
    assert words in ended.answer["error"]
    assert ended.answer["reason"] == "configuration"
    assert ended.answer.keys() == KEYS


def test_a_folder_that_is_no_repository_is_wrong_usage(shop: Shop) -> None:
    ended = shop.call("prove", "--base", "trunk")
    assert ended.code == 2
    assert "is not a git repository" in ended.err


def test_a_shallow_clone_without_a_common_commit_says_how_to_fetch_it(
    shop: Shop,
) -> None:
    make_branch(shop, {"cart.py": FIXED, "test_pieces.py": NEW_TEST})
    shop.tree.write("more.txt", b"more\n")
    shop.tree.commit()
    shallow = shop.folder / "shallow"
    shop.tree.git(
        "clone",
        "--quiet",
        "--depth=1",
        "--no-single-branch",
        f"file://{shop.tree.path}",
        str(shallow),
    )
    ended = shop.call(
        *("prove", "-C", "shallow", "--base", "origin/trunk"),
        *("--head", "origin/topic", "--test", COMMAND),
    )
    assert ended.code == 2
    assert "git fetch --unshallow" in ended.err
    WorkTree(shallow).git("fetch", "--quiet", "--unshallow")
    ended = shop.call(
        *("prove", "-C", "shallow", "--base", "origin/trunk"),
        *("--head", "origin/topic", "--test", COMMAND),
    )
    assert ended.code == 0, ended


def test_no_model_is_needed_and_none_of_its_settings_is_read(shop: Shop) -> None:
    make_branch(shop, {"cart.py": FIXED, "test_pieces.py": NEW_TEST})
    settings = {
        "LLM_API_KEY": "",
        "PATCHWRIGHT_DATABASE__URL": "postgresql://nowhere/x",
    }
    ended = shop.call(
        *("prove", "-C", "shop", "--base", "trunk", "--head", "topic"),
        *("--test", COMMAND),
        settings=settings,
    )
    assert ended.code == 0, ended
