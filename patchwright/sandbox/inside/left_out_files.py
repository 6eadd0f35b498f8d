"""Find what a change cannot carry: what git would refuse, and what it would overlook.

Standard library only, Python 3.8 and newer.
"""

from __future__ import annotations

import os
import re
import stat
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Iterator, NamedTuple

from patchwright.sandbox.inside.git_commands import (
    FOLDER,
    GITLINK,
    MERGED,
    REPO,
    STORE,
    TREE,
    agents_git,
    has_merge,
    in_store,
    in_tree,
    is_within,
    read_some,
    run_git,
)

# Files that builds and tools leave, if the repository's .gitignore does not list them.
# Only files that git does not track yet are left out by this.
SCRATCH_FILES = (
    ".venv/",
    "venv/",
    "node_modules/",
    "__pycache__/",
    "*.pyc",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".tox/",
    ".nox/",
    ".coverage",
    ".hypothesis/",
    "*.egg-info/",
    ".gradle/",
    ".DS_Store",
    ".patchwright-*",
)
# Build output that .gitignore covers: it is not reported, unless the change itself
# names it.
BUILT = (
    *SCRATCH_FILES,
    "*.a *.class *.dll *.dylib *.egg *.exe *.jar *.log *.o *.obj *.orig *.pid",
    "*.pyd *.pyo *.rej *.rlib *.so *.swo *.swp *.tmp *.tsbuildinfo *.whl *.war *~",
    ".*_cache/ .build/ .bundle/ .cache/ .cargo/ .coverage.* .dart_tool/ .eggs/ .idea/",
    ".eslintcache .ipynb_checkpoints/ .next/ .nuxt/ .nyc_output/ .parcel-cache/",
    ".serverless/ .stack-work/ .svelte-kit/ .terraform/ .turbo/ .vscode/ .yarn/",
    "Pods/ DerivedData/ _build/ bin/ bower_components/ build/ cmake-build-*/",
    "coverage/ coverage.xml deps/ dist/ dist-newstyle/ env/ htmlcov/ junit.xml logs/",
    "obj/ out/ site-packages/ target/ tmp/ vendor/ Thumbs.db",
)
PREPARED_MARK = FOLDER / "prepared"
MOST_LOOKED_AT = 5000
MOST_READ = 8 << 20
# What `git update-index` says of a name such as `.GIT`, and goes on.
_PASSED_OVER = re.compile(rb"^Ignoring path (.+)$", re.MULTILINE)
# Where a conflict begins and where it ends; seven characters, or more by attribute.
# https://git-scm.com/docs/git-merge#_how_conflicts_are_presented
OPENING = re.compile(rb"^<{7,}(?: .*)?\r?$", re.MULTILINE)
CLOSING = re.compile(rb"^>{7,}(?: .*)?\r?$", re.MULTILINE)
# The names of files are looked for in the change, if they are not any word.
SHORTEST = 4
# Splitting a list of files to find those that git refuses ends here.
MOST_TRIES = 2000


class Survey(NamedTuple):
    """Places in the work tree, by their paths from its root."""

    nested: list[bytes]
    unreadable: list[bytes]
    special: list[bytes]


def matches(path: bytes, patterns: tuple[str, ...]) -> bool:
    """Say whether a path, or a folder that it is in, has one of these names."""
    *folders, name = os.fsdecode(path).rstrip("/").split("/")
    if path.endswith(b"/"):
        folders.append(name)
    for pattern in " ".join(patterns).split():
        for folder in folders:
            if fnmatchcase(folder, pattern.rstrip("/")):
                return True
        if not pattern.endswith("/") and fnmatchcase(name, pattern):
            return True
    return False


def survey() -> Survey:
    """Look through the work tree for what git must not be shown."""
    root = os.fsencode(REPO)
    passed_over = {os.fsencode(one[:-1]) for one in SCRATCH_FILES if one.endswith("/")}
    found = Survey([], [], [])
    folders = [b""]
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(os.path.join(root, folder)))
        except OSError:
            found.unreadable.append(folder)
            continue
        names = {entry.name for entry in entries}
        if folder and b".git" in names:
            found.nested.append(folder)
            continue
        if not os.access(os.path.join(root, folder), os.X_OK):
            found.unreadable.append(folder)
            continue
        for entry in entries:
            path = os.path.join(folder, entry.name)
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in passed_over | {b".git"}:
                    folders.append(path)
            elif not entry.is_symlink() and not entry.is_file(follow_symlinks=False):
                found.special.append(path)
    return found


def add_all(apart: list[bytes]) -> list[tuple[bytes, str]]:
    """Add the work tree to the index except some places; return what git refuses."""
    excluded = [b":(top,exclude,literal)" + path for path in apart]
    if run_git(*TREE, "add", "--all", "--", ":(top)", *excluded).returncode == 0:
        return []
    run_git(*TREE, "update-index", "-q", "--refresh")
    listed = ("ls-files", "-z", "--modified", "--deleted", "--others")
    paths = set(in_tree(*listed, "--exclude-standard").split(b"\0")) - {b""}
    paths = {path for path in paths if not is_within(path.rstrip(b"/"), apart)}
    gone = [path for path in paths if not is_leaf(path)]
    remove = ("update-index", "--force-remove", "-z", "--stdin")
    in_tree(*remove, stdin=b"".join(path + b"\0" for path in gone))
    refused: list[tuple[bytes, str]] = []
    _add(sorted(paths - set(gone)), refused, [MOST_TRIES])
    return refused


def add_forced(apart: list[bytes]) -> list[tuple[bytes, str]]:
    """Add ignored files that the agent has added to git."""
    ours = set(in_tree("ls-files", "-z").split(b"\0"))
    forced = [
        path
        for path, mode in agents_index()
        if mode != GITLINK
        and path not in ours
        and is_leaf(path)
        and not matches(path, SCRATCH_FILES)
        and not is_within(path, apart)
    ]
    refused: list[tuple[bytes, str]] = []
    _add(forced, refused, [MOST_TRIES])
    return refused


def agents_index() -> Iterator[tuple[bytes, bytes]]:
    """Yield the paths that the agent's git tracks, with their modes."""
    for line in agents_git("ls-files", "--stage", "-z").split(b"\0"):
        head, _, path = line.partition(b"\t")
        if path:
            yield path, head.split(b" ")[0]


def _add(
    paths: list[bytes], refused: list[tuple[bytes, str]], tries: list[int]
) -> None:
    """Add files together; where git refuses one, find out which."""
    if not paths:
        return
    tries[0] -= 1
    add = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
    ran = run_git(*TREE, *add, stdin=b"".join(path + b"\0" for path in paths))
    if ran.returncode == 0:
        refused += [
            (path, "refused-by-git") for path in _PASSED_OVER.findall(ran.stderr)
        ]
        return
    if len(paths) == 1 or tries[0] <= 0:
        refused += [(path, _refusal_reason(path, ran.stderr)) for path in paths]
        return
    middle = len(paths) // 2
    _add(paths[:middle], refused, tries)
    _add(paths[middle:], refused, tries)


def _refusal_reason(path: bytes, error_output: bytes) -> str:
    full = os.path.join(os.fsencode(REPO), path)
    mode = os.lstat(full).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
        return "not-a-file"
    if not stat.S_ISLNK(mode) and not os.access(full, os.R_OK):
        return "unreadable"
    if b"encod" in error_output:
        return "encoding"
    return "refused-by-git"


def is_leaf(path: bytes) -> bool:
    """Say whether something is there that is no folder."""
    full = os.path.join(os.fsencode(REPO), path)
    return os.path.lexists(full) and (os.path.islink(full) or not os.path.isdir(full))


def find_gitlinks() -> dict[bytes, bytes]:
    """Return where submodules are, with their commits: these change on request only."""
    entries = in_tree("ls-files", "--stage", "-z").split(b"\0")
    links = (entry.partition(b"\t") for entry in entries if entry.startswith(GITLINK))
    return {path: head.split(b" ")[1] for head, _, path in links}


def moved_submodules(links: dict[bytes, bytes]) -> Iterator[bytes]:
    """Yield the submodules that the agent has moved, filled or removed."""
    if not links:
        return
    staged = dict(_agents_links())
    merged = _merged_links(links)
    for path, commit in links.items():
        known = {commit, merged.get(path, commit)}
        place = REPO / os.fsdecode(path)
        if staged.get(path, commit) not in known or not _is_as_it_was(place, known):
            yield path


def _agents_links() -> Iterator[tuple[bytes, bytes]]:
    for line in agents_git("ls-files", "--stage", "-z").split(b"\0"):
        head, _, path = line.partition(b"\t")
        if head.startswith(GITLINK):
            yield path, head.split(b" ")[1]


def _merged_links(links: dict[bytes, bytes]) -> dict[bytes, bytes]:
    if not has_merge():
        return {}
    listed = in_store("ls-tree", "-z", MERGED, "--", *links).split(b"\0")
    found = (line.partition(b"\t") for line in listed if line.startswith(GITLINK))
    return {path: head.split(b" ")[2] for head, _, path in found}


def _is_as_it_was(place: Path, commits: set[bytes]) -> bool:
    """Say whether a submodule's folder is empty, or a clean checkout of its commit."""
    try:
        names = os.listdir(place)
    except OSError:
        return False
    if ".git" not in names:
        return not names
    quiet = ("-C", place, "-c", "core.fsmonitor=")
    head = run_git(*quiet, "rev-parse", "HEAD").stdout.strip()
    changed = run_git(*quiet, "status", "--porcelain", "--untracked-files=normal")
    return head in commits and changed.returncode == 0 and not changed.stdout


def mark_prepared() -> dict[str, object]:
    """Remember when the repository's set-up was over: what it made, it makes again."""
    PREPARED_MARK.write_bytes(b"")
    return {"head": ""}


def find_ignored(added: dict[bytes, bytes], apart: list[bytes]) -> Iterator[bytes]:
    """Yield what .gitignore covers, and people may miss in the change.

    Of what builds make that is only what the change names in the lines it adds. What
    was there before the agent is there again.
    """
    spoken_of = b"\n".join(added.values())
    question = ("ls-files", "-z", "--others", "--ignored", "--directory")
    own = "--exclude-per-directory=.gitignore"
    since = PREPARED_MARK.stat().st_mtime_ns if PREPARED_MARK.exists() else 0
    for place in in_tree(*question, own).split(b"\0"):
        if (
            not place
            or matches(place, SCRATCH_FILES)
            or is_within(place.rstrip(b"/"), apart)
        ):
            continue
        files = [path for path, made in _files_below(place) if made > since]
        if files and not matches(place, BUILT):
            yield place
        else:
            yield from (path for path in files if _is_named(path, spoken_of))


def _files_below(place: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield files with the moment at which each was made or changed last."""
    root = os.fsencode(REPO)
    full = os.path.join(root, place.rstrip(b"/"))
    if not os.path.isdir(full) or os.path.islink(full):
        yield place, os.lstat(full).st_ctime_ns
        return
    # Not `os.walk`: before Python 3.12 it goes no deeper than calls may be nested.
    waiting, looked_at = [full], 0
    while waiting and looked_at < MOST_LOOKED_AT:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:
            continue
        for entry in entries:
            looked_at += 1
            if not entry.is_dir(follow_symlinks=False):
                made = entry.stat(follow_symlinks=False).st_ctime_ns
                yield os.path.relpath(entry.path, root), made
            elif not matches(entry.name + b"/", SCRATCH_FILES):
                waiting.append(entry.path)


def _is_named(path: bytes, spoken_of: bytes) -> bool:
    name = os.path.basename(path)
    if matches(name, SCRATCH_FILES):
        return False
    return (len(name) > SHORTEST and name in spoken_of) or _is_imported(path, spoken_of)


def _is_imported(path: bytes, spoken_of: bytes) -> bool:
    """Say whether the file is named as a module is: by its folder, without its end."""
    stem = path.rpartition(b".")[0]
    if b"/" not in stem:
        return False
    spelled = (re.escape(one) for one in (stem, stem.replace(b"/", b".")))
    return any(re.search(rb"(?<!\w)%s(?!\w)" % one, spoken_of) for one in spelled)


def read_added(base: str, tree: str) -> dict[bytes, bytes]:
    """Return the lines that a change adds, by file, as far as that is not too much."""
    words = ("diff-tree", "-r", "-p", "-U0", "--no-renames", "--no-ext-diff")
    quiet = ("-c", "core.quotePath=false", "--git-dir", STORE)
    diff = read_some(MOST_READ, *quiet, *words, "--no-textconv", base, tree)
    added: dict[bytes, bytes] = {}
    for file in diff.split(b"\ndiff --git "):
        _, _, lines = file.partition(b"\n+++ b/")
        path, _, rest = lines.partition(b"\n")
        new = (line[1:] for line in rest.split(b"\n") if line.startswith(b"+"))
        added[path.rstrip(b"\t")] = b"\n".join(new)
    return added


def conflicts_in(added: dict[bytes, bytes]) -> list[bytes]:
    """Return the files to which the change adds both ends of a conflict."""
    return [
        path
        for path, lines in added.items()
        if OPENING.search(lines) and CLOSING.search(lines)
    ]


def ignored_among(places: list[bytes]) -> set[bytes]:
    """Return which of these places .gitignore covers."""
    if not places:
        return set()
    asked = b"".join(path + b"\0" for path in places)
    ran = run_git(*TREE, "check-ignore", "-z", "--stdin", stdin=asked)
    return set(ran.stdout.split(b"\0")) - {b""}
