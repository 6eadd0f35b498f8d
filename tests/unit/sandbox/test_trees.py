"""Folders are removed whatever is in them, and nothing beside them is."""

import fcntl
import os
import struct
from contextlib import suppress
from pathlib import Path

import pytest

from patchwright.core.system.folder_removal import remove_tree

LONG = "n" * 250


def dig(start: Path, name: str, depth: int) -> None:
    """Make folders in folders, deeper than a path can say."""
    folder = os.open(start, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=folder)
        below = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


@pytest.mark.parametrize(("name", "depth"), [(LONG, 300), ("d", 1200)])
def test_m1_a_folder_of_any_depth_is_removed(tree: Path, name: str, depth: int) -> None:
    dig(tree, name, depth)
    (tree / "beside").mkdir()
    dig(tree / "beside", name, depth)
    remove_tree(tree)
    assert not tree.exists()


def test_m1_names_of_our_own_making_do_not_meet_those_that_are_there(
    tree: Path,
) -> None:
    for number in range(3):
        (tree / f".lifted-{number}" / ".lifted-0" / ".lifted-1").mkdir(parents=True)
        (tree / f".lifted-{number}" / ".lifted-0" / "file").touch()
    remove_tree(tree)
    assert not tree.exists()


def test_m1_folders_that_forbid_it_and_odd_names_are_removed(tree: Path) -> None:
    locked = tree / "locked"
    (locked / "in" / "deeper").mkdir(parents=True)
    (locked / "in" / "deeper" / "file").touch()
    os.mkfifo(locked / "pipe")
    (locked / "in" / os.fsdecode(b"\xff\n")).touch()
    for folder in (locked / "in" / "deeper", locked / "in", locked):
        folder.chmod(0)
    remove_tree(tree)
    assert not tree.exists()


def test_m1_what_links_lead_to_is_left_alone(tree: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    (kept / "in").mkdir(parents=True)
    kept.chmod(0o500)
    (tree / "link").symlink_to(kept)
    (tree / "below").mkdir()
    (tree / "below" / "link").symlink_to(kept)
    remove_tree(tree)
    assert (kept / "in").is_dir()
    assert kept.stat().st_mode & 0o777 == 0o500
    (tmp_path / "tree").symlink_to(kept)
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
        remove_tree(tmp_path / "tree")
    assert (kept / "in").is_dir()


def mark_immutable(path: Path) -> None:
    """Forbid root to remove it, where root and the file system have a say in that."""
    file = os.open(path, os.O_RDONLY)
    with suppress(OSError):
        fcntl.ioctl(file, 0x40086602, struct.pack("i", 0x10))
    os.close(file)


def test_m1_marks_that_forbid_removal_are_taken_off(tree: Path) -> None:
    (tree / "in" / "below").mkdir(parents=True)
    (tree / "in" / "file").touch()
    (tree / "file").touch()
    for path in (tree / "in" / "file", tree / "in", tree / "file"):
        mark_immutable(path)
    remove_tree(tree)
    assert not tree.exists()


def test_many_files_in_many_folders_are_removed(tree: Path) -> None:
    for number in range(40):
        folder = tree / f"{number}" / "a" / "b"
        folder.mkdir(parents=True)
        for name in range(40):
            (folder / str(name)).touch()
    remove_tree(tree)
    assert not tree.exists()
