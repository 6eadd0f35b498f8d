"""What is large is judged by its size in git, neither read nor diffed here."""

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import PullRequest
from patchwright.core.types.work import LeftOutReason, Outcome
from patchwright.integrations.git.commits import Signature
from patchwright.resolver.clean import clean
from patchwright.resolver.context.gather import read_changes
from patchwright.resolver.run_store import pack_change
from tests.adapters.git.workshop import WorkTree

LARGE = 21_000_000
# What the service may take for a change of any size: less than one copy of the file.
MOST = 4_000_000
BOT = Signature("bot", "bot@example.test")
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)

Edit = Callable[[WorkTree], object]


def _text(size: int) -> bytes:
    line = b"a line of a large text that somebody has put into git\n"
    return line * (size // len(line))


@contextmanager
def _little_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        _, most = tracemalloc.get_traced_memory()
        assert most < MOST
    finally:
        tracemalloc.stop()


def _unlink(tree: WorkTree) -> None:
    (tree.path / "data.txt").unlink()


def _link(tree: WorkTree) -> None:
    _unlink(tree)
    (tree.path / "data.txt").symlink_to("notes.txt")


def _rename_and_edit(tree: WorkTree) -> None:
    tree.git("mv", "data.txt", "moved.txt")
    with (tree.path / "moved.txt").open("ab") as file:
        file.write(b"one more\n")


REMOVALS: dict[str, Edit] = {
    "deleted": _unlink,
    "emptied": lambda tree: tree.write("data.txt", b""),
    "cut short": lambda tree: tree.write("data.txt", b"a line\n"),
    "made binary": lambda tree: tree.write("data.txt", b"\0\1\2"),
    "replaced by a link": _link,
    "renamed and edited": _rename_and_edit,
}
MOVES: dict[str, Edit] = {
    "renamed": lambda tree: tree.git("mv", "data.txt", "moved.txt"),
    "made executable": lambda tree: (tree.path / "data.txt").chmod(0o755),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> WorkTree:
    tree = WorkTree.start(tmp_path_factory.mktemp("large") / "tree")
    tree.write("data.txt", _text(LARGE))
    tree.write("notes.txt", b"one\n")
    tree.commit()
    tree.git("tag", "base")
    return tree


@pytest.fixture
def large(made: WorkTree) -> WorkTree:
    made.git("reset", "--quiet", "--hard", "base")
    return made


def _changed(tree: WorkTree, edit: Edit) -> tuple[str, str]:
    """Return the commits before and after an edit that another one goes with."""
    base = tree.head
    edit(tree)
    tree.write("notes.txt", b"two\n")
    return base, tree.commit()


def _pull(head_sha: str) -> PullRequest:
    return PullRequest(
        number=1,
        url="https://github.test/acme/shop/pull/1",
        base_branch="trunk",
        head_branch="fix",
        head_sha=head_sha,
        draft=False,
        same_repository=True,
    )


@pytest.mark.parametrize("kind", REMOVALS)
def test_l8_what_is_taken_from_a_large_text_is_left_out_unread(
    large: WorkTree, kind: str
) -> None:
    base, head = _changed(large, REMOVALS[kind])
    with _little_memory():
        cleaned = clean(large.objects, base, head)
    assert {one.reason for one in cleaned.left_out} == {LeftOutReason.TOO_LARGE}
    changed = large.git("diff", "--name-only", base, cleaned.tree).splitlines()
    assert (changed, cleaned.excess) == (["notes.txt"], ())


@pytest.mark.parametrize("kind", MOVES)
def test_l8_what_moves_a_large_text_unchanged_is_carried_unread(
    large: WorkTree, kind: str
) -> None:
    base, head = _changed(large, MOVES[kind])
    with _little_memory():
        cleaned = clean(large.objects, base, head)
        diff = large.objects.diff(base, head)
    assert (cleaned.left_out, cleaned.excess) == ((), ())
    assert cleaned.tree == large.objects.tree_of(head)
    assert len(diff) < 1_000


@pytest.mark.parametrize("kind", ["deleted", "emptied", "renamed"])
def test_l8_a_pull_request_that_takes_a_large_text_away_is_listed_undiffed(
    large: WorkTree, kind: str
) -> None:
    base, head = _changed(large, (REMOVALS | MOVES)[kind])
    with _little_memory():
        read = read_changes(large.objects, _pull(head), base, head)
    assert len(read.paths) == 2
    assert len(read.text) < 1_000


def test_l8_many_files_of_a_middle_size_are_an_accident_unread(
    tmp_path: Path,
) -> None:
    tree = WorkTree.start(tmp_path / "many")
    for number in range(12):
        tree.write(f"data/{number}.txt", _text(2_000_000) + str(number).encode())
    base = tree.commit()
    tree.git("rm", "-rq", "data")
    tree.write("notes.txt", b"one\n")
    head = tree.commit()
    with _little_memory():
        cleaned = clean(tree.objects, base, head)
    assert cleaned.excess == ("it is very large in all (13 paths)",)


def test_l8_a_merge_that_takes_a_large_text_away_is_kept_without_its_diff(
    large: WorkTree,
) -> None:
    ours = large.head
    theirs = _changed(large, _unlink)[1]
    code = large.objects
    merge = code.commit(
        code.tree_of(theirs),
        *(ours, theirs),
        message="Merge\n",
        author=BOT,
        committer=BOT,
        when=NOON,
    )
    outcome = Outcome(kind=OutcomeKind.RESOLVED, base_sha=ours, head_sha=merge)
    with _little_memory():
        packed = pack_change(code, outcome, str)
    assert len(packed["diff"]) <= 1_000_000
