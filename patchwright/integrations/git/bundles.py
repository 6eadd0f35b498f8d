"""Commits in and out as bundles; what comes in is judged before it is let in."""

from collections.abc import Sequence
from pathlib import Path

from patchwright.core.errors import GitError
from patchwright.integrations.git.gitdir import GitDir
from patchwright.integrations.git.names import check_branch, check_ref
from patchwright.integrations.git.scratch import borrow

TRANSFER_TIMEOUT_S = 900.0
_ARRIVED = "refs/patchwright/arrived"
_BESIDE = "refs/patchwright/beside"


def make_bundle(
    store: GitDir, sha: str, branch: str, also: Sequence[str] = ()
) -> bytes:
    """Pack a commit with its whole history; a clone of it checks out `branch`.

    With it come the commits of `also` and their histories.
    """
    ref = check_branch(branch)
    with borrow(store) as scratch:
        scratch.run(["update-ref", ref, sha])
        scratch.run(["symbolic-ref", "HEAD", ref])
        others = [f"{_BESIDE}/{number}" for number in range(len(also))]
        for other, commit in zip(others, also, strict=True):
            scratch.run(["update-ref", other, commit])
        create = ["bundle", "create", "--quiet", "-", "HEAD", ref, *others]
        return scratch.run(create, timeout_s=TRANSFER_TIMEOUT_S)


def make_parcel(store: GitDir, base_sha: str, sha: str) -> bytes:
    """Pack what a commit adds to another, in the form that `take_bundle` reads."""
    ref = check_branch("parcel")
    with borrow(store) as scratch:
        scratch.run(["update-ref", ref, sha])
        create = ["bundle", "create", "--quiet", "-", ref, f"^{base_sha}"]
        return scratch.run(create, timeout_s=TRANSFER_TIMEOUT_S)


def take_bundle(store: GitDir, bundle: bytes, base_sha: str, run_id: str) -> str:
    """Let the one commit a bundle offers into `store`, and return its id.

    It must descend from `base_sha`, and every object of it must pass git's own checks.
    It is kept alive by a ref of its own, which no other run and no other commit share.
    """
    with borrow(store) as scratch:
        parcel = scratch.path / "parcel.bundle"
        parcel.write_bytes(bundle)
        head = _unpack(scratch, parcel)
        if not scratch.contains(base_sha, head):
            raise GitError(f"the bundle's commits do not build on {base_sha}")
        _admit(store, scratch, check_ref(f"{_prefix(run_id)}/{head}"))
        return head


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


def _unpack(scratch: GitDir, parcel: Path) -> str:
    name = _only_ref(scratch.run(["bundle", "list-heads", str(parcel)]))
    spec = f"+{name}:{_ARRIVED}"
    fetch = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"]
    scratch.run([*fetch, str(parcel), spec], timeout_s=TRANSFER_TIMEOUT_S)
    return scratch.resolve(_ARRIVED)


def _only_ref(listing: bytes) -> str:
    lines = listing.decode("utf-8", "replace").splitlines()
    if len(lines) != 1:
        raise GitError(f"the bundle must offer one ref, and offers {len(lines)}")
    name = lines[0].partition(" ")[2]
    return name if name == "HEAD" else check_ref(name)


def _admit(store: GitDir, scratch: GitDir, ref: str) -> None:
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
            f"{_ARRIVED}:{ref}",
        ],
        settings={"transfer.fsckObjects": "true"},
        timeout_s=TRANSFER_TIMEOUT_S,
    )
    if done.exit_code != 0:
        raise GitError(f"the bundle was not accepted: {done.last_words}")
