"""What a change cannot carry is named, and everything else arrives."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from patchwright.core.runtime import SandboxSpec
from patchwright.core.system.clock import SystemClock
from patchwright.sandbox.factory import create_factory
from patchwright.sandbox.workspace import Export, Workspace
from tests.adapters.sandbox.box import Box
from tests.adapters.sandbox.test_workspace import Origin

UTF_16 = "*.utf16 text working-tree-encoding=UTF-16\n"


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    origin = Origin(tmp_path / "origin")
    (origin.path / ".gitattributes").write_text(UTF_16)
    (origin.path / ".gitignore").write_text("*.dat\ndata/\nbuild/\n/secret.json\n")
    (origin.path / "old.utf16").write_bytes("old\n".encode("utf-16"))
    origin.git("add", "--all", "--", ".git*", "*.utf16")
    origin.git("commit", "--quiet", "--message", "Rules")
    origin.base = origin.git("rev-parse", "HEAD")
    return origin


@pytest.fixture
def box(spec: SandboxSpec) -> Iterator[Box]:
    runtime = create_factory("bubblewrap", SystemClock()).start(spec)
    yield Box(runtime)
    runtime.close()


@pytest.fixture
def workspace(box: Box, origin: Origin) -> Workspace:
    return Workspace.check_out(box.runtime, origin.bundle(), origin.base, "work")


def changed(export: Export, origin: Origin) -> list[str]:
    assert export.bundle is not None
    head = origin.take(export.bundle)
    told = origin.git("diff", "--no-renames", "--name-only", origin.base, head)
    return told.splitlines()


def named(export: Export) -> dict[str, str]:
    return {one.path: one.reason.value for one in export.left_out}


# What is done besides an edit of `tracked.txt`, and what is told of it.
CASES = {
    "a file without rights": (
        "echo x > closed.txt; chmod 0 closed.txt",
        {"closed.txt": "unreadable"},
    ),
    "a tracked file without rights": ("chmod 0 latin.txt", {"latin.txt": "unreadable"}),
    "a folder without rights": (
        "mkdir closed; echo x > closed/x; chmod 0 closed",
        {"closed": "unreadable"},
    ),
    "a tracked folder without rights": ("chmod 0 sub", {"sub": "unreadable"}),
    "a folder that cannot be entered": ("chmod 600 sub", {"sub": "unreadable"}),
    "a folder that cannot be listed": ("chmod 300 sub", {"sub": "unreadable"}),
    "a root without rights": ("chmod 500 .; chmod 0 .", {}),
    "an encoding that does not fit": (
        r"printf '\xff\xfea' > new.utf16; printf 'a\0b' > old.utf16",
        {"new.utf16": "encoding", "old.utf16": "encoding"},
    ),
    "many that do not fit": (
        r"for n in 1 2 3 4 5 6 7 8 9; do printf '\xff\xfea' > $n.utf16; done",
        {f"{number}.utf16": "encoding" for number in range(1, 10)},
    ),
    "a pipe in place of a file": (
        "rm latin.txt; mkfifo latin.txt other",
        {"latin.txt": "not-a-file", "other": "not-a-file"},
    ),
    "a name that git refuses": (
        "mkdir .GIT; echo x > .GIT/x; mkdir 'git~1'; echo x > 'git~1/y'",
        {".GIT/x": "refused-by-git", "git~1/y": "refused-by-git"},
    ),
    "a link in place of .gitmodules": (
        "ln -s tracked.txt .gitmodules",
        {".gitmodules": "refused-by-git"},
    ),
    "a repository of its own": (
        "git init -q one; echo x > one/x; git clone -q . two 2>/dev/null",
        {"one": "nested-repository", "two": "nested-repository"},
    ),
    "a submodule that was moved": (
        (
            "git update-index --cacheinfo 160000,"
            "2222222222222222222222222222222222222222,module"
        ),
        {"module": "submodule"},
    ),
    "a submodule that was filled": ("echo x > module/x", {"module": "submodule"}),
    "a submodule that was removed": ("rmdir module", {"module": "submodule"}),
    "an ignored file": (
        "echo x > x.dat; echo {} > secret.json",
        {"x.dat": "ignored", "secret.json": "ignored"},
    ),
    "an ignored folder": ("mkdir data; echo x > data/x", {"data/": "ignored"}),
    "what builds make": ("mkdir build; echo x > build/thing.txt", {}),
    "a module that builds make and the change imports": (
        (
            "mkdir build; echo x > build/n.py; echo x > build/m.js; "
            "echo 'import build.n; require(\"./build/m\"); build.other' >> tracked.txt"
        ),
        {"build/n.py": "ignored", "build/m.js": "ignored"},
    ),
    "what builds make and the change names": (
        "mkdir build; echo x > build/thing.txt; echo thing.txt >> tracked.txt",
        {"build/thing.txt": "ignored"},
    ),
    "a submodule as it was": ("ls module", {}),
}


RESET = (
    "cd /workspace/repo; chmod -R u+rwX .; rm -f other; git update-index -q --refresh;"
    "git reset -q --hard; git clean -qffdx; rm -rf module; mkdir module"
)


def test_what_cannot_be_carried_is_named_and_the_rest_arrives(
    box: Box, workspace: Workspace, origin: Origin
) -> None:
    for case, (command, told) in CASES.items():
        edit = "echo more >> tracked.txt; echo new > new.txt"
        box.sh(f"{RESET}; {edit}; {command}")
        export = workspace.export(origin.base, is_last=True)
        assert named(export) == told, case
        assert changed(export, origin) == ["new.txt", "tracked.txt"], case


def test_what_was_forced_into_git_arrives(
    box: Box, workspace: Workspace, origin: Origin
) -> None:
    box.sh(
        "mkdir data build; echo x > data/a.json; echo x > build/b; echo x > c.dat;"
        "git add -f data/a.json; git add -f build/b; git commit -qm forced;"
        "git add -f c.dat; mkdir -p node_modules/x; echo > node_modules/x/i.js;"
        "git add -f node_modules"
    )
    export = workspace.export(origin.base, is_last=True)
    assert changed(export, origin) == ["build/b", "c.dat", "data/a.json"]
    assert named(export) == {}


def test_what_the_set_up_made_is_not_missed(
    box: Box, workspace: Workspace, origin: Origin
) -> None:
    box.sh("mkdir data; echo x > data/before; echo x > y.dat")
    workspace.mark_prepared()
    box.sh("echo more >> tracked.txt; echo x > z.dat")
    assert named(workspace.export(origin.base, is_last=True)) == {"z.dat": "ignored"}


ASIDE = {
    "stash": ("echo mine >> tracked.txt; git stash -q", "stash", "stash@{0}"),
    "stash with new files": (
        "echo mine > mine.txt; git stash -q --include-untracked",
        "stash",
        "stash@{0}",
    ),
    "branch": (
        (
            "git switch -qc side; echo mine > mine.txt; git add .; git commit -qm mine;"
            "git switch -q work"
        ),
        "branch",
        "side",
    ),
    "work tree": (
        "git worktree add -q ../beside; cd ../beside; echo mine > mine.txt",
        "worktree",
        "../beside",
    ),
    "work tree inside": (
        (
            "git worktree add -q in/side; cd in/side; echo mine > mine.txt; git add .;"
            "git commit -qm mine"
        ),
        "worktree",
        "in/side",
    ),
}


def test_work_that_lies_aside_arrives_where_nothing_else_does(
    box: Box, workspace: Workspace, origin: Origin
) -> None:
    for way, (command, reason, name) in ASIDE.items():
        box.sh(f"cd /workspace/repo; ({command})")
        told = workspace.export(origin.base, is_last=True)
        assert (told.bundle, named(told)) == (None, {name: reason}), way
        export = workspace.export(origin.base, is_last=True, takes_stray_work=True)
        [path] = changed(export, origin)
        assert path in ("tracked.txt", "mine.txt")
        assert export.taken_from is not None
        assert (export.taken_from.path, export.left_out) == (name, ())
        box.sh(
            "git stash clear; git worktree list | tail -n +2 | cut -d' ' -f1 |"
            "xargs -rn1 git worktree remove --force;"
            "git branch | grep -v work | xargs -rn1 git branch -D; git branch -D side"
        )


def test_a_commit_on_no_branch_is_found(
    box: Box, workspace: Workspace, origin: Origin
) -> None:
    box.sh(
        "git switch -q --detach; echo mine > mine.txt; git add .; git commit -qm mine;"
        "git switch -q work"
    )
    [told] = workspace.export(origin.base, is_last=True).left_out
    assert told.reason == "commit"
    export = workspace.export(origin.base, is_last=True, takes_stray_work=True)
    assert changed(export, origin) == ["mine.txt"]


def test_work_that_lies_aside_is_named_beside_a_change(
    box: Box, workspace: Workspace, origin: Origin
) -> None:
    box.sh("echo aside > aside.txt; git stash -qu; echo mine > mine.txt")
    export = workspace.export(origin.base, is_last=True, takes_stray_work=True)
    assert changed(export, origin) == ["mine.txt"]
    assert named(export) == {"stash@{0}": "stash"}


ARRIVED = (
    "git switch -qc side; git commit -qam side; git switch -q work; git merge -q side",
    (
        "git switch -qc side; git commit -qam side; git switch -q work;"
        "git cherry-pick side >/dev/null; echo more > other.txt"
    ),
    "git stash -q; git stash pop -q",
    "git branch old HEAD~1",
    "rm .git/index",
    "rm -rf .git",
)


def test_work_that_arrived_is_not_missed(
    box: Box, workspace: Workspace, origin: Origin
) -> None:
    for command in ARRIVED:
        box.sh(
            f"git reset -q --hard {origin.base}; git clean -qfd; git branch -D side;"
            f"echo mine >> tracked.txt; {command}"
        )
        export = workspace.export(origin.base, is_last=True, takes_stray_work=True)
        assert "tracked.txt" in changed(export, origin), command
        assert named(export) == {}, command


def test_a_conflict_that_was_not_resolved_is_told(
    box: Box, workspace: Workspace, origin: Origin
) -> None:
    box.sh(
        "git switch -qc b; echo b > new.txt; git add .; git commit -qm b;"
        "git switch -q work; echo w > new.txt; git add .; git commit -qm w; git merge b"
    )
    assert workspace.export(origin.base, is_last=True).conflicts == ("new.txt",)
