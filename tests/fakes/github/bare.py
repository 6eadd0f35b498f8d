"""A bare git repository on disk, through git itself."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

# As the forges' own servers: partial clones, single commits by name, and nobody pushes
# to the references that follow pull requests.
SETTINGS = """[core]
\tbare = true
\trepositoryformatversion = 0
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
[receive]
\thideRefs = {followers}
[gc]
\tauto = 0
"""

# Git lets nothing else be written there, nor does this fake.
HOLD_COMMITS = ("refs/heads/", "refs/pull/", "refs/merge-requests/")
OBJECT_NAME = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
GUARD = """#!/bin/sh
listed() { case "
$2
" in *"
$1
"*) return 0 ;; esac; return 1; }
refuse() {
    echo "error: GH013: Repository rule violations found for $1." >&2
    echo "" >&2
    echo "- $2" >&2
    exit 1
}
unsigned() {
    git rev-list "$1" --not --all | while read -r sha; do
        git cat-file commit "$sha" | sed '/^$/q' | grep -q '^gpgsig' || echo "$sha"
    done
}
workflow_in() {
    git log --format= --name-only "$1" --not --all -- .github/workflows | head -n 1
}
while read -r old new ref; do
    if listed "$ref" "$PROTECTED_REFS"; then
        echo "error: GH006: Protected branch update failed for $ref." >&2
        echo "error: Changes must be made through a pull request." >&2
        exit 1
    fi
    if [ -n "$NO_NEW_BRANCHES" ] && [ -z "$(echo "$old" | tr -d 0)" ]; then
        refuse "$ref" "Cannot create ref due to creations being restricted."
    fi
    if [ -n "$SIGNED_ONLY" ] && [ -n "$(unsigned "$new")" ]; then
        refuse "$ref" "Commits must have verified signatures."
    fi
    if [ -n "$NO_WORKFLOWS" ] && [ -n "$(workflow_in "$new")" ]; then
        printf 'refusing to allow a GitHub App to create or update workflow' >&2
        printf ' `%s` without `workflows` permission\\n' "$(workflow_in "$new")" >&2
        exit 1
    fi
    if [ -n "$WRITABLE_REFS" ] && ! listed "$ref" "$WRITABLE_REFS"; then
        echo "error: You may only push to the pull request's branch." >&2
        exit 1
    fi
done
"""


@dataclass(frozen=True)
class File:
    """A file as git keeps it; `mode` is git's, 120000 is a symlink to `content`."""

    content: bytes
    mode: str = "100644"


Content = str | bytes | File | None


@cache
def git_binary() -> str:
    return shutil.which("git") or "/usr/bin/git"


def git_environment() -> dict[str, str]:
    """Return an environment in which none of the machine's own settings apply."""
    path = f"{Path(git_binary()).parent}{os.pathsep}{os.defpath}"
    return {
        "PATH": path,
        "HOME": "/nowhere",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }


def git(folder: Path, *args: str, stdin: bytes = b"") -> bytes:
    """Run git there and return its output; raise CalledProcessError where it fails."""
    return subprocess.run(
        [git_binary(), "-C", str(folder), *args],
        input=stdin,
        capture_output=True,
        check=True,
        env=git_environment(),
    ).stdout


def create(
    folder: Path,
    default_branch: str,
    *,
    followers: str = "refs/pull",
    guard: str = GUARD,
) -> None:
    """Lay out an empty repository; quicker by far than starting `git init`.

    `followers` are the references that follow pull requests, and `guard` the hook that
    looks at each push.
    """
    (folder / "objects").mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "config").write_text(SETTINGS.format(followers=followers))
    (folder / "HEAD").write_text(f"ref: refs/heads/{default_branch}\n")
    hook = folder / "hooks" / "pre-receive"
    hook.parent.mkdir()
    hook.write_text(guard)
    hook.chmod(0o755)


def fetch(folder: Path, source: Path, refspec: str) -> None:
    git(folder, "fetch", "--quiet", "--no-tags", str(source), refspec)


def find_commit(folder: Path, ref: str) -> str | None:
    """Return the commit that the full reference or object name stands for."""
    # Asked dozens of times in a story; a process for each would be a tenth of its time.
    if ref.startswith(HOLD_COMMITS) and (tip := _read_loose(folder / ref)):
        return tip
    name = f"{ref}^{{commit}}"
    found = subprocess.run(
        [git_binary(), "-C", str(folder), "rev-parse", "--verify", "-q", name],
        capture_output=True,
        check=False,
        env=git_environment(),
    )
    return found.stdout.decode().strip() or None


def current_name(folder: Path, ref: str) -> str:
    """Return the commit that a full reference stands for, if that is told at once."""
    return (ref.startswith(HOLD_COMMITS) and _read_loose(folder / ref)) or ref


def _read_loose(file: Path) -> str | None:
    """Read a reference that lies in a file of its own, as each new one does.

    https://git-scm.com/docs/gitrepository-layout
    """
    try:
        text = file.read_text("ascii").strip()
    except (OSError, ValueError):
        return None
    return text if OBJECT_NAME.fullmatch(text) else None


def read_folder(folder: Path) -> dict[str, Content]:
    """Return what lies in a folder as files for a commit, without its `.git`."""
    return {
        str(path.relative_to(folder)): _read(path)
        for path in sorted(folder.rglob("*"))
        if path.relative_to(folder).parts[0] != ".git"
        and (path.is_symlink() or path.is_file())
    }


def commit(
    folder: Path,
    branch: str,
    files: Mapping[str, Content],
    *,
    start: str,
    message: str,
    author: str,
    at: datetime,
) -> str:
    """Commit on top of the branch, or of `start` for a new one; None deletes."""
    ref = f"refs/heads/{branch}"
    text = message.encode()
    person = f"{author} <{author}@users.noreply.test> {int(at.timestamp())} +0000"
    stream = [f"commit {ref}\ncommitter {person}\ndata {len(text)}\n".encode(), text]
    parent = find_commit(folder, ref) or find_commit(folder, f"refs/heads/{start}")
    if parent is not None:
        stream.append(f"\nfrom {parent}".encode())
    stream += [_change(path, content) for path, content in files.items()]
    git(folder, "fast-import", "--quiet", stdin=b"".join([*stream, b"\n"]))
    return _read_loose(folder / ref) or git(folder, "rev-parse", ref).decode().strip()


def _change(path: str, content: Content) -> bytes:
    quoted = '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if content is None:
        return f"\nD {quoted}".encode()
    file = _as_file(content)
    start = f"\nM {file.mode} inline {quoted}\ndata {len(file.content)}\n"
    return start.encode() + file.content


def _as_file(content: str | bytes | File) -> File:
    match content:
        case File():
            return content
        case str():
            return File(content.encode())
        case bytes():
            return File(content)


def _read(path: Path) -> File:
    if path.is_symlink():
        return File(os.fsencode(path.readlink()), mode="120000")
    executable = path.stat().st_mode & 0o100
    return File(path.read_bytes(), mode="100755" if executable else "100644")
