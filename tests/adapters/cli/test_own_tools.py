"""On one's own checkout tests run with what is installed there."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.cli.terminal import Shop
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import TurnLike, call

# In this environment alone; `prices` is a library of the shop's.
TEST = """import prices
from shop.cart import total


def test_every_piece_counts():
    assert total([prices.PRICE], [3]) == 1350
"""
CART = "def total(prices, pieces):\n    return sum(prices)\n"
RUN_TEST = "python -m pytest -q tests/test_pieces.py"
RUNNER = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")


@pytest.fixture
def own() -> Iterator[Shop]:
    # The sandbox of root's runs is nobody's, who cannot look into pytest's folders.
    with tempfile.TemporaryDirectory(prefix="test-own-") as tmp:
        Path(tmp).chmod(0o711)
        home = Path(tmp) / "ann"
        home.mkdir()
        own = Shop(home, Path(tmp))
        own.tree.write(".gitignore", b".venv/\n")
        own.tree.write("pyproject.toml", b'[project]\nname = "shop"\nversion = "1"\n')
        # By this a set-up would be inferred: here nothing has to be set up.
        own.tree.write("requirements.txt", b"pytest\n")
        own.tree.write("src/shop/__init__.py", b"")
        own.tree.write("src/shop/cart.py", CART.encode())
        own.tree.commit()
        _install(own.tree.path)
        yield own


def _install(checkout: Path) -> None:
    """Install a test runner, a library, and the checkout itself, by its path."""
    made = checkout / ".venv"
    subprocess.run(
        ["/usr/bin/python3", "-m", "venv", "--without-pip", str(made)], check=True
    )
    [packages] = made.glob("lib/python3*/site-packages")
    here = Path(pytest.__file__).parents[1]
    for name in RUNNER:
        shutil.copytree(here / name, packages / name)
    shutil.copy(here / "py.py", packages)
    (packages / "prices.py").write_text("PRICE = 450\n")
    (packages / "shop.pth").write_text(f"{checkout / 'src'}\n")


def _fix() -> list[TurnLike]:
    edit = {
        "old": "sum(prices)",
        "new": "sum(p * n for p, n in zip(prices, pieces))",
    }
    return [
        call("write", path="tests/test_pieces.py", content=TEST),
        call("shell", command=RUN_TEST),
        call("edit", path="src/shop/cart.py", edits=[edit]),
        call("shell", command=RUN_TEST),
        call(
            "finish",
            title="Count every piece",
            summary="The total ignored the pieces.",
            test_commands=[RUN_TEST],
        ),
    ]


def test_a_fix_is_proven_with_the_persons_own_test_runner(own: Shop) -> None:
    with FakeProvider(_fix()) as provider:
        ended = own.resolve(provider)
        first = str(provider.requests[0])
    assert (ended.code, ended.out.split()[1]) == (0, "proven"), ended.out + ended.err
    assert "was not set up with" not in ended.out
    lines = ended.err.splitlines()
    assert "The sandbox sees .venv (read-only)." in lines
    at = lines.index("  2  $ python -m pytest -q tests/test_pieces.py")
    # What took long says how long.
    assert lines[at + 1].partition(" · ")[0] == "       exit 1"
    assert f"{own.tree.path}/.venv/bin/python" in first
    assert "The package `shop` imports." in first
    assert (own.tree.path / "src/shop/cart.py").read_text() == CART


def test_toolchains_none_shows_nothing(own: Shop) -> None:
    off = {"PATCHWRIGHT_SANDBOX__TOOLCHAINS": "none"}
    with FakeProvider(_fix()) as provider:
        ended = own.call("resolve", *own.local(), provider=provider, settings=off)
        first = str(provider.requests[0])
    assert "not-proven" in ended.out or "proven" not in ended.out.split("\n")[0].split()
    assert "The sandbox sees" not in ended.err
    assert ".venv" not in first


def test_a_set_up_that_cannot_install_anything_does_not_end_the_run(own: Shop) -> None:
    own.tree.write(".patchwright.toml", b'setup = ["touch .venv/x"]\n')
    own.base = own.tree.commit()
    with FakeProvider(_fix()) as provider:
        ended = own.resolve(provider, "--json")
    assert (ended.code, ended.answer["proof"]) == (0, "proven"), ended.err
