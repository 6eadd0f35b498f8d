"""The parts of a change, and the files without each of them."""

import subprocess
from pathlib import Path

import pytest

from patchwright.integrations.git.hunks import ChangePart
from tests.adapters.git.workshop import WorkTree

LINES = b"".join(b"line %d\n" % number for number in range(1, 21))


def parts_of(
    folder: Path, before: dict[str, bytes], after: dict[str, bytes | None]
) -> tuple[ChangePart, ...]:
    tree = WorkTree.start(folder / "repository")
    for path, content in before.items():
        tree.write(path, content)
    base = tree.commit()
    for path, new in after.items():
        if new is None:
            (tree.path / path).unlink()
        else:
            tree.write(path, new)
    head = tree.commit()
    changes = tree.objects.changed_paths(base, head)
    return tree.objects.list_parts(base, head, changes)


def test_each_part_is_taken_out_alone(tmp_path: Path) -> None:
    after = (
        LINES.replace(b"line 2\n", b"line two\n")
        .replace(b"line 9\n", b"")
        .replace(b"line 15\n", b"line 15\nline 15.5\nline 15.6\n")
    )
    first, second, third = parts_of(tmp_path, {"a": LINES}, {"a": after})
    assert [(one.start, one.lines) for one in (first, second, third)] == [
        (2, 1),
        (9, 0),
        (15, 2),
    ]
    assert first.without == after.replace(b"line two\n", b"line 2\n")
    assert second.without == after.replace(b"line 10\n", b"line 9\nline 10\n")
    assert third.without == after.replace(b"line 15.5\nline 15.6\n", b"")
    assert {one.after for one in (first, second, third)} == {after}
    assert {one.before for one in (first, second, third)} == {LINES}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb", b"a\nc"),
        (b"a\nb", b"a\nb\n"),
        (b"a\nb\n", b"a\nb"),
        (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n"),
        (b"a\nb\n", b"a\r\nb\r\n"),
        ("größe = 1\n".encode("latin-1"), "größe = 2\n".encode("latin-1")),
        (b"one\rtwo\x0cthree\n", b"one\rtwo\x0cfour\n"),
        (b"", b"something\n"),
        (b"something\n", b""),
    ],
)
def test_a_file_without_its_only_part_is_as_it_was(
    before: bytes, after: bytes, tmp_path: Path
) -> None:
    [part] = parts_of(tmp_path, {"a": before}, {"a": after})
    assert part.without == before


def test_new_and_removed_files_are_a_part_each(tmp_path: Path) -> None:
    new, gone = parts_of(tmp_path, {"b": b"old\nfile"}, {"b": None, "a": b"1\n2"})
    assert (new.path, new.start, new.lines, new.without) == ("a", 1, 2, None)
    assert (gone.path, gone.lines, gone.after) == ("b", 0, None)
    assert gone.without == b"old\nfile"


def test_a_moved_file_has_only_the_parts_that_changed(tmp_path: Path) -> None:
    after = LINES.replace(b"line 7\n", b"line seven\n")
    [part] = parts_of(tmp_path, {"old": LINES}, {"old": None, "new": after})
    assert (part.path, part.start, part.lines) == ("new", 7, 1)
    assert part.without == LINES


def test_what_is_no_text_has_no_parts(tmp_path: Path) -> None:
    before = {"picture": b"\0\1\2", "a": b"1\n", "moved": LINES}
    after = {"picture": b"\0\1\3", "a": b"1\n", "moved": None, "here": LINES}
    assert parts_of(tmp_path, before, after) == ()


def test_all_parts_taken_out_together_are_the_file_before(tmp_path: Path) -> None:
    """Git applies the same patch backwards, so both must agree."""
    after = LINES.replace(b"line 3\n", b"x\n").replace(b"line 12\n", b"y\nz\n")
    parts = parts_of(tmp_path, {"a": LINES}, {"a": after})
    text = after
    for part in reversed(parts):
        assert part.without is not None
        start = sum(map(len, text.splitlines(keepends=True)[: part.start - 1]))
        assert text[:start] == part.without[:start]
        text = _apply(tmp_path / "apply", text, part)
    assert text == LINES


def _apply(folder: Path, text: bytes, part: ChangePart) -> bytes:
    folder.mkdir(exist_ok=True)
    (folder / "after").write_bytes(part.after or b"")
    (folder / "without").write_bytes(part.without or b"")
    (folder / "text").write_bytes(text)
    merged = subprocess.run(
        ["git", "merge-file", "--stdout", "text", "after", "without"],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    return merged.stdout


def test_a_commit_is_made_with_other_contents(tmp_path: Path) -> None:
    tree = WorkTree.start(tmp_path / "repository")
    tree.write("a", b"1\n")
    tree.write("run.sh", b"true\n")
    (tree.path / "run.sh").chmod(0o755)
    tree.write("gone", b"x\n")
    head = tree.commit()
    contents = {"a": b"2\n", "run.sh": b"false\n", "gone": None, "in/new": b"n\n"}
    made = tree.objects.with_files(head, contents)
    shown = tree.git("ls-tree", "-r", made).splitlines()
    listed = [(line.split(" ")[0], line.split("\t")[1]) for line in shown]
    assert listed == [("100644", "a"), ("100644", "in/new"), ("100755", "run.sh")]
    assert tree.objects.read_file(made, "a") == b"2\n"
    assert tree.objects.with_files(head, contents) == made
