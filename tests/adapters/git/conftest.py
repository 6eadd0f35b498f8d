"""A repository with one commit on a branch that is not called main."""

from pathlib import Path

import pytest

from tests.adapters.git.workshop import WorkTree


@pytest.fixture
def origin(tmp_path: Path) -> WorkTree:
    tree = WorkTree.start(tmp_path / "origin")
    tree.write("src/app.py", b"def add(a, b):\n    return a - b\n")
    tree.write("notes.txt", b"caf\xe9\nsecond line\n")
    tree.write("scripts/run.sh", b"#!/bin/sh\necho run\n")
    (tree.path / "scripts/run.sh").chmod(0o755)
    tree.write("dos.txt", b"one\r\ntwo\r\n")
    tree.commit("Start")
    return tree
