"""Commits into a sandbox and out again, byte by byte."""

import subprocess
from pathlib import Path

import pytest

from patchwright.core.runtime import RuntimeFactory, SandboxSpec
from patchwright.core.types.errors import SandboxError
from patchwright.core.types.work import LeftOut, LeftOutReason
from patchwright.sandbox.local.runtimes import UnconfinedRuntimes
from patchwright.sandbox.workspace import Workspace
from tests.adapters.sandbox.box import Box

SUBMODULE_SHA = "1234567890123456789012345678901234567890"
# The tree that git itself makes of the work tree, with an index that nobody else uses.
WRITE_TREE = (
    "(export GIT_INDEX_FILE=/tmp/index.$RANDOM; git read-tree HEAD && git add -A"
    " && git write-tree)"
)

MUTATIONS = {
    "rename with edit": "git mv tracked.txt moved.txt; echo more >> moved.txt",
    "pure rename": "mv tracked.txt sub/moved.txt",
    "binary": "head -c 70000 /dev/urandom > data.bin",
    "mode": "chmod 755 tracked.txt; chmod 644 run.sh",
    "symlink": "ln -s tracked.txt link; rm run.sh; ln -s nowhere run.sh",
    "crlf": r"printf 'a\r\nb\r\n' > crlf.txt; printf 'a\nb\r\n' > mixed.txt",
    "no final newline": "printf 'end' > tracked.txt",
    "odd names": "touch 'a b' $'tab\\there' $'new\\nline' '\"q\"' -- -dash ä '*' '\\'",
    "names not utf-8": "touch $'caf\\xe9'; mkdir $'d\\xff'; echo x > $'d\\xff/y'",
    "deletion": "rm -r tracked.txt sub",
    "file becomes folder": "rm tracked.txt; mkdir tracked.txt; echo x > tracked.txt/x",
    "latin-1 content": "printf 'caf\\xe9\\n' >> latin.txt",
    "empty folder and file": "mkdir empty; touch nothing",
}

STATES = {
    "committed": "git add -A; git commit -qm mine",
    "on another branch": "git switch -qc other; git add -A; git commit -qm mine",
    "detached": "git add -A; git commit -qm mine; git switch -q --detach",
    "without git": "rm -rf .git",
    "broken": "echo garbage > .git/HEAD; echo garbage > .git/index",
    "locked": "touch .git/index.lock",
    "assumed unchanged": "git update-index --assume-unchanged tracked.txt",
    "with hostile settings": """
        git config core.hooksPath .; git config core.fsmonitor /bin/false
        git config core.autocrlf input; git config filter.x.clean 'tr a-z A-Z'
        mkdir -p .git/info; echo '* filter=x' > .git/info/attributes
    """,
    "with hostile settings at home": """
        git config --global core.autocrlf input; git config --global core.fileMode no
        git config --global core.excludesFile ~/ignore; echo new.txt > ~/ignore
    """,
}


class Origin:
    """A repository outside the sandbox: where work starts, and where it arrives."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "--quiet", "--initial-branch=trunk")
        (path / "tracked.txt").write_text("one\ntwo\n")
        (path / "latin.txt").write_bytes(b"caf\xe9\n")
        (path / "sub").mkdir()
        (path / "sub" / "deep.txt").write_text("deep\n")
        (path / "run.sh").write_text("#!/bin/sh\n")
        (path / "run.sh").chmod(0o755)
        (path / ".gitattributes").write_text("crlf.txt -text\n")
        self.git("add", "--all")
        gitlink = f"160000,{SUBMODULE_SHA},module"
        self.git("update-index", "--add", "--cacheinfo", gitlink)
        self.git("commit", "--quiet", "--message", "Start")
        self.base = self.git("rev-parse", "HEAD")

    def git(self, *words: str) -> str:
        name = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        ran = subprocess.run(
            ["git", *name, "-C", str(self.path), *words],
            check=True,
            capture_output=True,
            text=True,
        )
        return ran.stdout.strip()

    def bundle(self) -> bytes:
        path = self.path.parent / "base.bundle"
        self.git("bundle", "create", str(path), "HEAD", "trunk")
        return path.read_bytes()

    def take(self, bundle: bytes) -> str:
        """Fetch the one head of a bundle; return its commit."""
        path = self.path.parent / "head.bundle"
        path.write_bytes(bundle)
        self.git("fetch", "--quiet", str(path), "HEAD")
        return self.git("rev-parse", "FETCH_HEAD")


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin(tmp_path / "origin")


def check_out(box: Box, origin: Origin) -> Workspace:
    return Workspace.check_out(box.runtime, origin.bundle(), origin.base, "work")


def exported(workspace: Workspace, origin: Origin) -> str:
    """Return the tree that arrived."""
    bundle = workspace.export(origin.base).bundle
    assert bundle is not None
    head = origin.take(bundle)
    assert origin.git("rev-list", "--parents", "-1", head) == f"{head} {origin.base}"
    return origin.git("rev-parse", f"{head}^{{tree}}")


def test_the_checkout_is_clean_on_its_branch_and_has_no_remote(
    fresh: Box, origin: Origin
) -> None:
    check_out(fresh, origin)
    assert fresh.sh("git status --short; git remote; git branch").output == "* work\n"
    assert fresh.sh("git rev-parse HEAD").output.strip() == origin.base
    assert fresh.sh("git config --list | grep -ci token").output == "0\n"
    assert fresh.sh("git commit -q --allow-empty -m x").exit_code == 0


def test_s30_git_trusts_the_repository(fresh: Box, origin: Origin) -> None:
    check_out(fresh, origin)
    assert fresh.sh("git log --oneline | wc -l; stat -c %u .git").output == "1\n1000\n"


def test_s31_no_change_is_no_bundle(fresh: Box, origin: Origin) -> None:
    workspace = check_out(fresh, origin)
    assert workspace.export(origin.base).bundle is None
    fresh.sh(
        "echo x > new; git add -A; git commit -qm x; git rm -q new; git commit -qm y"
    )
    assert workspace.export(origin.base).bundle is None


def test_s23_s24_s26_s27_every_change_arrives_with_its_tree_hash(
    fresh: Box, origin: Origin
) -> None:
    workspace = check_out(fresh, origin)
    for name, mutation in MUTATIONS.items():
        assert (
            fresh.sh(f"git reset -q --hard; git clean -fdq; {mutation}").exit_code == 0
        )
        wanted = fresh.sh(WRITE_TREE).output.strip()
        assert exported(workspace, origin) == wanted, name


def test_s25_blanks_at_the_end_of_a_file_arrive(fresh: Box, origin: Origin) -> None:
    workspace = check_out(fresh, origin)
    fresh.sh(r"printf 'one \t\n\n  \n\n' > tracked.txt; printf 'end  ' > new.txt")
    wanted = fresh.sh(WRITE_TREE).output.strip()
    assert exported(workspace, origin) == wanted


@pytest.mark.parametrize("state", STATES)
def test_the_work_tree_counts_whatever_state_git_is_in(
    fresh: Box, origin: Origin, state: str
) -> None:
    workspace = check_out(fresh, origin)
    fresh.sh("echo new > new.txt; echo more >> tracked.txt; printf 'a\\r\\n' > c.txt")
    wanted = fresh.sh(WRITE_TREE).output.strip()
    fresh.sh(STATES[state])
    assert exported(workspace, origin) == wanted


def test_a_merge_half_way_arrives_as_it_lies_there(fresh: Box, origin: Origin) -> None:
    workspace = check_out(fresh, origin)
    fresh.sh(
        "git switch -qc b; echo b > new.txt; git add .; git commit -qm b;"
        "git switch -q work; echo w > new.txt; git add .; git commit -qm w; git merge b"
    )
    assert "UU" in fresh.sh("git status --short").output.replace("AA", "UU")
    wanted = fresh.sh(WRITE_TREE).output.strip()
    assert exported(workspace, origin) == wanted


@pytest.mark.parametrize(
    "change",
    [
        "rmdir module",
        "mkdir -p module; cd module; git init -q; touch a; git add a; git commit -qm a",
        "mkdir -p module; echo flat > module/file",
        "git clone -q . other",
        "git init -q empty-repository",
    ],
)
def test_s28_submodules_neither_move_nor_appear(
    fresh: Box, origin: Origin, change: str
) -> None:
    workspace = check_out(fresh, origin)
    fresh.sh(f"echo more >> tracked.txt; ({change})")
    tree = exported(workspace, origin)
    listed = origin.git("ls-tree", "-r", tree).splitlines()
    links = [line for line in listed if line.startswith("160000")]
    assert links == [f"160000 commit {SUBMODULE_SHA}\tmodule"]
    assert [line.partition("\t")[2] for line in listed] == [
        line.partition("\t")[2]
        for line in origin.git("ls-tree", "-r", origin.base).splitlines()
    ]


def test_s29_generated_files_are_left_out_but_tracked_files_are_not(
    fresh: Box, origin: Origin
) -> None:
    (origin.path / "venv").mkdir()
    (origin.path / "venv" / "tracked").write_text("one\n")
    origin.git("add", "--all", "--", "venv")
    origin.git("commit", "--quiet", "--message", "Odd")
    origin.base = origin.git("rev-parse", "HEAD")
    workspace = check_out(fresh, origin)
    fresh.sh(
        "mkdir -p .venv/bin node_modules/x src/__pycache__ .pytest_cache;"
        "touch .venv/bin/python node_modules/x/i.js src/__pycache__/a.pyc"
        " .pytest_cache/x a.pyc; echo two > venv/tracked; echo new > src/new.py"
    )
    tree = exported(workspace, origin)
    changed = origin.git("diff", "--name-only", origin.base, tree)
    assert changed.splitlines() == ["src/new.py", "venv/tracked"]


def test_a_file_beyond_the_limit_is_named_and_the_rest_arrives(
    fresh: Box, origin: Origin
) -> None:
    workspace = check_out(fresh, origin)
    fresh.sh(
        "head -c 300000 /dev/urandom > data.bin; head -c 250000 /dev/urandom > run.sh;"
        "echo more >> tracked.txt; cp tracked.txt new.txt"
    )
    export = workspace.export(origin.base, max_bytes=200_000)
    assert export.left_out == (
        LeftOut(path="data.bin", reason=LeftOutReason.TOO_LARGE),
        LeftOut(path="run.sh", reason=LeftOutReason.TOO_LARGE),
    )
    assert export.bundle is not None
    changed = origin.git("diff", "--name-only", origin.base, origin.take(export.bundle))
    assert changed.splitlines() == ["new.txt", "tracked.txt"]


def test_a_commit_that_the_bundle_lacks_is_an_error(fresh: Box, origin: Origin) -> None:
    with pytest.raises(SandboxError, match="git failed in the sandbox"):
        Workspace.check_out(fresh.runtime, origin.bundle(), SUBMODULE_SHA, "work")


def test_a_workspace_needs_no_fixed_place(origin: Origin, spec: SandboxSpec) -> None:
    runtime = UnconfinedRuntimes().start(spec)
    box = Box(runtime)
    workspace = check_out(box, origin)
    box.sh("echo more >> tracked.txt")
    wanted = box.sh(WRITE_TREE).output.strip()
    assert exported(workspace, origin) == wanted
    runtime.close()


def test_a_sandbox_without_git_is_refused_with_a_remedy(
    factory: RuntimeFactory, spec: SandboxSpec, origin: Origin
) -> None:
    bare = spec.replace(environment={"PATH": "/tmp/bin"})
    runtime = factory.start(bare)
    Box(runtime).sh("/bin/mkdir /tmp/bin; /bin/ln -s /usr/bin/python3 /tmp/bin")
    with pytest.raises(SandboxError, match="has no git; choose an image"):
        Workspace.check_out(runtime, origin.bundle(), origin.base, "work")
    runtime.close()
