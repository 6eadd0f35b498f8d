"""Commits in and out as bundles; an incoming bundle is checked first."""

import os
import re
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from patchwright.core.types.errors import GitError
from patchwright.integrations.git.command import (
    GitDir,
    check_branch,
    check_ref,
    run_git,
)
from patchwright.integrations.git.commits import (
    BOT_SIGNATURE,
    FIXED_DATE,
    make_commit,
    replace_paths,
)

_SHOWN_PATHS: Final = 3
# What says that objects may be missing, and be had elsewhere.
# https://git-scm.com/docs/partial-clone
_PROMISES: Final = r"^(extensions\.partialclone|remote\..*\.promisor)$"


@dataclass(frozen=True)
class _Layout:
    """What git says of a directory: the kind of its ids, and where it keeps things."""

    object_format: str
    objects: Path
    shallow: Path

    def shallow_commits(self) -> frozenset[str]:
        try:
            return frozenset(self.shallow.read_text(encoding="ascii").split())
        except FileNotFoundError:
            return frozenset()


def _layout_of(store: GitDir) -> _Layout:
    asked = ["--show-object-format", "--git-path", "objects", "--git-path", "shallow"]
    told = store.run(["rev-parse", "--path-format=absolute", *asked])
    kind, objects, shallow = told.decode("utf-8", "surrogateescape").splitlines()
    return _Layout(kind, Path(objects), Path(shallow))


def shallow_commits(store: GitDir) -> frozenset[str]:
    """Return the commits of a shallow clone whose parents are not there."""
    return _layout_of(store).shallow_commits()


def is_partial(store: GitDir) -> bool:
    """Tell whether files of earlier commits may be missing."""
    return store.call(["config", "--get-regexp", _PROMISES]).exit_code == 0


def find_ends(store: GitDir, commits: Sequence[str], bases: Sequence[str]) -> list[str]:
    """Return where the history of `commits` ends before its first commit.

    In a partial clone that is at `bases`, since the files of earlier commits need not
    be there.
    """
    if is_partial(store):
        return list(bases)
    cut = shallow_commits(store)
    if not cut:
        return []
    roots = store.run_text(["rev-list", "--max-parents=0", *commits]).split()
    return [root for root in roots if root in cut]


def require_files(store: GitDir, commit: str) -> None:
    """Raise GitError where a partial clone lacks files of the commit itself."""
    if not is_partial(store):
        return
    tree = f"{commit}^{{tree}}"
    listed = store.run(["rev-list", "--objects", "--missing=print", tree])
    lines = listed.decode("utf-8", "backslashreplace").splitlines()
    missing = {line[1:] for line in lines if line.startswith("?")}
    if not missing:
        return
    paths = _paths_of_missing(store, commit, missing)
    named = ", ".join(paths[:_SHOWN_PATHS]) or "among them whole folders"
    more = f" and {len(paths) - _SHOWN_PATHS} more" if len(paths) > _SHOWN_PATHS else ""
    raise GitError(
        f"this is a partial clone, and it lacks files of the commit {commit[:10]}: "
        f"{named}{more}. Fetch them with `git fetch --refetch --no-filter`"
    )


def _paths_of_missing(store: GitDir, commit: str, objects: set[str]) -> list[str]:
    listing = store.call(["ls-tree", "-r", "-z", "--full-tree", commit])
    entries = listing.output.decode("utf-8", "backslashreplace").split("\0")
    found = (entry.partition("\t") for entry in entries if entry)
    return [path for head, _, path in found if head.split(" ")[2] in objects]


@contextmanager
def scratch_repository(source: GitDir, ends: Collection[str] = ()) -> Iterator[GitDir]:
    """Give a bare repository without refs that sees every object of `source`.

    What is written there never reaches `source` unless it is fetched from there. Its
    history ends where that of `source` does, and at the commits of `ends`.
    """
    layout = _layout_of(source)
    with tempfile.TemporaryDirectory(prefix="patchwright-git-") as folder:
        path = Path(folder).resolve()
        kind = f"--object-format={layout.object_format}"
        run_git(["init", "--quiet", "--bare", "--template=", kind], cwd=path)
        alternates = path / "objects" / "info" / "alternates"
        alternates.parent.mkdir(exist_ok=True)
        alternates.write_bytes(os.fsencode(f"{layout.objects}\n"))
        cut = sorted(layout.shallow_commits() | set(ends))
        if cut:
            (path / "shallow").write_text("".join(f"{sha}\n" for sha in cut))
        yield GitDir(path)


TRANSFER_TIMEOUT_S = 900.0
_ARRIVED_REF = "refs/patchwright/arrived"
_ALSO_REF = "refs/patchwright/beside"
_MOST_REFUSED = 50
_BAD_OBJECT = re.compile(
    r"^(?:remote: )?error: object ([0-9a-f]{40,64}):", re.MULTILINE
)


class BadObjectsError(GitError):
    """Git's checks refuse some objects of a bundle."""

    def __init__(self, message: str, objects: frozenset[str]) -> None:
        super().__init__(message)
        self.objects = objects


def make_bundle(
    store: GitDir,
    sha: str,
    branch: str,
    also: Sequence[str] = (),
    ends: Sequence[str] = (),
) -> bytes:
    """Pack a commit with its whole history; a clone of it checks out `branch`.

    With it come the commits of `also` and their histories. All of these end at `ends`.
    """
    ref = check_branch(branch)
    with scratch_repository(store, ends) as scratch:
        scratch.run(["update-ref", ref, sha])
        scratch.run(["symbolic-ref", "HEAD", ref])
        others = [f"{_ALSO_REF}/{number}" for number in range(len(also))]
        for other, commit in zip(others, also, strict=True):
            scratch.run(["update-ref", other, commit])
        create = ["bundle", "create", "--quiet", "-", "HEAD", ref, *others]
        return scratch.run(create, timeout_s=TRANSFER_TIMEOUT_S)


def make_partial_bundle(store: GitDir, base_sha: str, sha: str) -> bytes:
    """Pack what a commit adds to another, in the form that `take_bundle` reads."""
    ref = check_branch("parcel")
    with scratch_repository(store) as scratch:
        scratch.run(["update-ref", ref, sha])
        create = ["bundle", "create", "--quiet", "-", ref, f"^{base_sha}"]
        return scratch.run(create, timeout_s=TRANSFER_TIMEOUT_S)


def take_bundle(store: GitDir, bundle: bytes, base_sha: str, run_id: str) -> str:
    """Add the one commit of a bundle to `store`, and return its id.

    It must descend from `base_sha`, and every object of it must pass git's own checks.
    Its own ref keeps it; no other run and no other commit shares that ref.
    """
    with scratch_repository(store) as scratch:
        partial_bundle = scratch.path / "parcel.bundle"
        partial_bundle.write_bytes(bundle)
        head = _unpack(scratch, partial_bundle)
        if not scratch.contains(base_sha, head):
            raise GitError(f"the bundle's commits do not build on {base_sha}")
        _fetch_checked(store, scratch, check_ref(f"{_prefix(run_id)}/{head}"))
        return head


@dataclass(frozen=True, slots=True)
class AcceptedCommit:
    """A commit that was accepted, and the paths that git's checks refused."""

    head: str
    refused: tuple[str, ...] = ()


def take_without_refused(
    store: GitDir, bundle: bytes, base_sha: str, run_id: str
) -> AcceptedCommit:
    """Accept a commit as `take_bundle` does, without files that git refuses.

    These stay as in the base. Git reads some files itself, such as `.gitmodules`, and
    refuses what could mislead it there.
    """
    with scratch_repository(store) as scratch:
        partial_bundle = scratch.path / "parcel.bundle"
        partial_bundle.write_bytes(bundle)
        head = _unpack(scratch, partial_bundle)
        if not scratch.contains(base_sha, head):
            raise GitError(f"the bundle's commits do not build on {base_sha}")
        refused: set[str] = set()
        for _ in range(_MOST_REFUSED):
            try:
                _fetch_checked(store, scratch, check_ref(f"{_prefix(run_id)}/{head}"))
            except BadObjectsError as error:
                paths = _paths_of_objects(scratch, head, error.objects)
                if not paths:
                    raise
            else:
                return AcceptedCommit(head, tuple(sorted(refused)))
            refused |= paths
            head = _without(scratch, base_sha, head, paths)
        raise GitError("the bundle was not accepted: git refuses too many files of it")


def _without(scratch: GitDir, base_sha: str, head: str, paths: set[str]) -> str:
    """Offer a commit instead that has these paths as the base has them."""
    whole = make_commit(
        scratch,
        replace_paths(scratch, head, base_sha, paths),
        base_sha,
        message="The work without what git refuses\n",
        author=BOT_SIGNATURE,
        committer=BOT_SIGNATURE,
        when=FIXED_DATE,
    )
    scratch.run(["update-ref", _ARRIVED_REF, whole])
    return whole


def _paths_of_objects(scratch: GitDir, head: str, objects: Collection[str]) -> set[str]:
    listing = scratch.run(["ls-tree", "-r", "-z", "--full-tree", head])
    entries = listing.decode("utf-8", "surrogateescape").split("\0")
    found = (entry.partition("\t") for entry in entries if entry)
    return {path for head, _, path in found if head.split(" ")[2] in objects}


def release(store: GitDir, run_id: str) -> None:
    """Drop the refs that keep a run's commits alive."""
    prefix = check_ref(_prefix(run_id))
    listed = store.run(["for-each-ref", "--format=delete %(refname)%00", prefix])
    store.run(["update-ref", "-z", "--stdin"], stdin=_deletions(listed))


def _prefix(run_id: str) -> str:
    return f"refs/patchwright/run/{run_id}"


def _deletions(listed: bytes) -> bytes:
    # With -z, `delete` is followed by the ref and by its old value: empty means any.
    names = [line for line in listed.split(b"\0\n") if line]
    return b"".join(name + b"\0\0" for name in names)


def _unpack(scratch: GitDir, partial_bundle: Path) -> str:
    name = _only_ref(scratch.run(["bundle", "list-heads", str(partial_bundle)]))
    spec = f"+{name}:{_ARRIVED_REF}"
    fetch = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"]
    scratch.run([*fetch, str(partial_bundle), spec], timeout_s=TRANSFER_TIMEOUT_S)
    return scratch.resolve(_ARRIVED_REF)


def _only_ref(listing: bytes) -> str:
    lines = listing.decode("utf-8", "replace").splitlines()
    if len(lines) != 1:
        raise GitError(f"the bundle must offer one ref, and offers {len(lines)}")
    name = lines[0].partition(" ")[2]
    return name if name == "HEAD" else check_ref(name)


def _fetch_checked(store: GitDir, scratch: GitDir, ref: str) -> None:
    # Git checks objects that arrive by a fetch, not those of a bundle: hence two steps.
    # https://git-scm.com/docs/git-config#Documentation/git-config.txt-transferfsckObjects
    done = store.call(
        [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            str(scratch.path),
            f"{_ARRIVED_REF}:{ref}",
        ],
        settings={"transfer.fsckObjects": "true"},
        timeout_s=TRANSFER_TIMEOUT_S,
    )
    if done.exit_code == 0:
        return
    # https://git-scm.com/docs/git-fsck#_fsck_messages
    bad = frozenset(_BAD_OBJECT.findall(done.error_output))
    raise BadObjectsError(f"the bundle was not accepted: {done.error_summary}", bad)
