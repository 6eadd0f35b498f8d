"""Invariant 8: whatever becomes of a work tree arrives with the tree that git makes.

A folder here goes through the same changes as the repository in the sandbox, while the
agent's git is broken, locked or misled; git's own hash of that folder is what must
come out of the sandbox.
"""

import base64
import json
import shlex
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
)

from patchwright.core.runtime import SandboxSpec
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.base import RandomIds
from patchwright.sandbox.factory import create_factory
from patchwright.sandbox.workspace import Workspace
from tests.adapters.git.workshop import WorkTree
from tests.adapters.sandbox.box import Box
from tests.invariants import mutations

START = {
    "tracked.txt": b"one\ntwo\n",
    "sub/deep.txt": b"deep\n",
    "crlf.txt": b"a\r\nb\r\n",
    "latin.txt": b"caf\xe9\n",
    ".gitattributes": b"crlf.txt -text\n",
}
NAMES = [
    b"tracked.txt",
    b"sub/deep.txt",
    b"sub",
    b"new.txt",
    b"a b",
    b"tab\there",
    b"new\nline",
    b'"q"',
    b"-dash",
    "ä".encode(),
    b"caf\xe9",
    b"*",
    b"d\xff/y",
    b"back\\slash",
]
CONTENTS = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [b"", b"\r\n", b"end", b"a\nb\r\n", b"\0\xff" * 40, b"#!/bin/sh\n"]
    ),
)
# What an agent may do to its own git, by accident or by order of a stranger.
FAULTS = [
    "git add -A && git commit -qm mine",
    "git switch -qc other && git add -A && git commit -qm mine",
    "git reset -q --soft HEAD~1",
    "rm -rf .git",
    "echo garbage > .git/HEAD",
    "echo garbage > .git/index",
    "touch .git/index.lock",
    "git config core.autocrlf input && git config core.fileMode false",
    "git config filter.x.clean 'tr a-z A-Z'; echo '* filter=x' > .git/info/attributes",
    "echo '*' > .git/info/exclude",
    "git config --global core.excludesFile ~/ignore; echo new.txt > ~/ignore",
]


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


class Trees(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp(prefix="trees-"))
        self._outside = WorkTree.start(self._folder / "outside")
        for name, content in START.items():
            self._outside.write(name, content)
        self._base = self._outside.commit()
        self._inside = create_factory("bubblewrap", SystemClock()).start(
            SandboxSpec(run_id=RandomIds().new())
        )
        self._box = Box(self._inside)
        packed = self._outside.objects.bundle(self._base)
        self._workspace = Workspace.check_out(self._inside, packed, self._base, "work")
        self._changes: list[list[Any]] = []

    @rule(name=st.sampled_from(NAMES), content=CONTENTS)
    def write(self, name: bytes, content: bytes) -> None:
        self._changes.append(["write", coded(name), coded(content)])

    @rule(name=st.sampled_from(NAMES), content=CONTENTS)
    def append(self, name: bytes, content: bytes) -> None:
        self._changes.append(["append", coded(name), coded(content)])

    @rule(name=st.sampled_from(NAMES), new=st.sampled_from(NAMES), more=CONTENTS)
    def rename_and_edit(self, name: bytes, new: bytes, more: bytes) -> None:
        self._changes.append(["rename", coded(name), coded(new)])
        self._changes.append(["append", coded(new), coded(more)])

    @rule(name=st.sampled_from(NAMES), is_program=st.booleans())
    def chmod(self, name: bytes, is_program: bool) -> None:  # noqa: FBT001 - a draw
        self._changes.append(["chmod", coded(name), is_program])

    @rule(
        name=st.sampled_from(NAMES),
        to=st.sampled_from([b"tracked.txt", b"nowhere", b"../out", b"sub"]),
    )
    def link(self, name: bytes, to: bytes) -> None:
        self._changes.append(["link", coded(name), coded(to)])

    @rule(name=st.sampled_from(NAMES))
    def delete(self, name: bytes) -> None:
        self._changes.append(["delete", coded(name)])

    @rule(fault=st.sampled_from(FAULTS))
    def break_git(self, fault: str) -> None:
        self._carry_out()
        self._box.sh(f"({fault}) 2>/dev/null")

    @precondition(lambda self: self._changes)
    @rule()
    def look(self) -> None:
        """Compare in mid-way as well, since an export must change nothing."""
        self._carry_out()
        assert self._arrived() == self._wanted()

    @invariant()
    def work_goes_on(self) -> None:
        assert self._box.sh("true").exit_code == 0

    def teardown(self) -> None:
        try:
            self._carry_out()
            assert self._arrived() == self._wanted()
        finally:
            self._inside.close()
            with suppress(OSError):
                shutil.rmtree(self._folder)

    def _carry_out(self) -> None:
        changes, self._changes = self._changes, []
        mutations.apply(self._outside.path, changes)
        program = shlex.quote(Path(mutations.__file__).read_text(encoding="utf-8"))
        command = f"cd /workspace/repo && python3 -c {program} ."
        ran = self._box.sh(command, stdin=json.dumps(changes))
        assert ran.exit_code == 0, ran.output

    def _arrived(self) -> str:
        bundle = self._workspace.export(self._base).bundle
        objects = self._outside.objects
        if bundle is None:
            return objects.tree_of(self._base)
        return objects.tree_of(objects.take(bundle, self._base, "arrived"))

    def _wanted(self) -> str:
        """Return git's own hash of the folder here, by an index of its own."""
        self._outside.git("read-tree", self._base)
        self._outside.git("add", "--all")
        return self._outside.git("write-tree")


TestTrees = Trees.TestCase
TestTrees.settings = settings(
    max_examples=8,
    stateful_step_count=12,
    deadline=None,
    # Each example starts a sandbox: a failure is told as it was found.
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
