"""Mirrors fetch what is needed, heal themselves, and push with care."""

import threading
from pathlib import Path

import pytest

from patchwright.core.forge import GitCredential
from patchwright.core.types.errors import (
    BranchMovedError,
    EmptyRepositoryError,
    GitError,
    NotFoundError,
    PushRefusedError,
    ServiceUnavailableError,
)
from patchwright.integrations.git.mirror import Mirror, MirrorCache
from patchwright.integrations.git.remote import BranchUpdate
from tests.adapters.git.workshop import WorkTree

TRUNK = "refs/heads/trunk"


@pytest.fixture
def forge(origin: WorkTree, tmp_path: Path) -> WorkTree:
    """Give the bare repository that a forge would serve."""
    bare = tmp_path / "forge.git"
    origin.git("clone", "--quiet", "--bare", str(origin.path), str(bare))
    return WorkTree(bare)


def url_of(forge: WorkTree) -> str:
    return forge.path.as_uri()


@pytest.fixture
def mirrors(tmp_path: Path) -> MirrorCache:
    return MirrorCache(tmp_path / "mirrors")


@pytest.fixture
def mirror(forge: WorkTree, mirrors: MirrorCache) -> Mirror:
    return mirrors.fetch(url_of(forge), None, [TRUNK])


def new_commit(mirror: Mirror, origin: WorkTree, content: bytes) -> str:
    """Make a commit on trunk that only the mirror has."""
    clone = WorkTree.unpack(
        origin.path.with_name(f"clone-{content.hex()}"),
        mirror.objects.bundle(mirror.resolve(TRUNK)),
    )
    clone.write("src/app.py", content)
    clone.commit()
    bundle = clone.bundle("origin/base..HEAD")
    return mirror.objects.take(bundle, mirror.resolve(TRUNK), "run1")


def push(
    mirror: Mirror,
    sha: str,
    branch: str = "bot/fix",
    expect: str | None = None,
) -> None:
    mirror.push(
        mirror.clone_url,
        None,
        BranchUpdate(branch, sha, expect, forbidden_branches=("trunk",)),
    )


def test_s33_default_branch_of_any_name_is_mirrored(
    mirror: Mirror, forge: WorkTree
) -> None:
    assert mirror.resolve(TRUNK) == forge.head


def test_a_repository_without_a_commit_is_called_so(
    mirrors: MirrorCache, tmp_path: Path
) -> None:
    empty = WorkTree.start(tmp_path / "empty")
    for _ in range(2):
        with pytest.raises(EmptyRepositoryError, match="has no commit yet"):
            mirrors.fetch(url_of(empty), None, [TRUNK])
    head = empty.commit("First")
    assert mirrors.fetch(url_of(empty), None, [TRUNK]).resolve(TRUNK) == head


def test_a_repository_of_sha_256_is_mirrored_and_pushed_to(
    mirrors: MirrorCache, tmp_path: Path
) -> None:
    origin = WorkTree(tmp_path / "long")
    origin.path.mkdir()
    start = ("init", "--quiet", "--object-format=sha256", "--initial-branch=trunk")
    origin.git(*start)
    head = origin.commit("First")
    mirror = mirrors.fetch(url_of(origin), None, [TRUNK])
    assert (len(head), mirror.resolve(TRUNK)) == (64, head)
    made = new_commit(mirror, origin, b"n = 1\n")
    push(mirror, made)
    assert origin.git("rev-parse", "bot/fix") == made


def test_only_the_refs_asked_for_are_fetched(
    mirrors: MirrorCache, forge: WorkTree
) -> None:
    forge.git("branch", "other", "trunk")
    forge.git("tag", "v1")
    mirror = mirrors.fetch(url_of(forge), None, [TRUNK])
    listed = mirror.objects.git.run_text(["for-each-ref", "--format=%(refname)"])
    assert listed == TRUNK


def test_s21_fork_pr_fetches_pull_head(
    mirrors: MirrorCache, forge: WorkTree, origin: WorkTree
) -> None:
    outside = origin.commit("From a fork")
    origin.git("push", "--quiet", str(forge.path), f"{outside}:refs/pull/7/head")
    mirror = mirrors.fetch(url_of(forge), None, [TRUNK, "refs/pull/7/head"])
    assert mirror.resolve("refs/pull/7/head") == outside


def test_branch_rewritten_at_the_remote_is_followed_and_the_old_commit_kept(
    mirror: Mirror, mirrors: MirrorCache, forge: WorkTree, origin: WorkTree
) -> None:
    old = mirror.resolve(TRUNK)
    origin.git("commit", "--quiet", "--amend", "--message", "Rewritten")
    origin.git("push", "--quiet", "--force", str(forge.path), "trunk")
    again = mirrors.fetch(url_of(forge), None, [TRUNK])
    assert again.resolve(TRUNK) == origin.head
    assert again.resolve(old) == old


def test_missing_branch_is_not_found(mirrors: MirrorCache, forge: WorkTree) -> None:
    with pytest.raises(NotFoundError, match="no such branch"):
        mirrors.fetch(url_of(forge), None, ["refs/heads/gone"])


def test_missing_repository_is_not_found(mirrors: MirrorCache, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no such repository"):
        mirrors.fetch((tmp_path / "none.git").as_uri(), None, [TRUNK])


def test_closed_port_is_a_service_that_does_not_answer(mirrors: MirrorCache) -> None:
    with pytest.raises(ServiceUnavailableError):
        mirrors.fetch("http://127.0.0.1:9/acme/shop.git", None, [TRUNK])


@pytest.mark.parametrize(
    "url",
    [
        "https://me:secret@host.test/a.git",
        "ext::sh -c id",
        "ssh://host.test/a.git",
        "--upload-pack=id",
        "/etc",
    ],
)
def test_s82_dangerous_clone_url_is_refused(mirrors: MirrorCache, url: str) -> None:
    with pytest.raises(GitError):
        mirrors.fetch(url, None, [TRUNK])


def test_mirror_whose_pack_is_cut_off_is_made_anew(
    mirror: Mirror, mirrors: MirrorCache, forge: WorkTree
) -> None:
    path = mirror.objects.git.path
    mirror.objects.git.run(["repack", "-adq"])
    (pack,) = (path / "objects/pack").glob("*.pack")
    pack.chmod(0o644)
    pack.write_bytes(pack.read_bytes()[:-30])
    healed = mirrors.fetch(url_of(forge), None, [TRUNK])
    assert healed.objects.tree_of(healed.resolve(TRUNK))
    assert {child.name for child in path.parent.iterdir()} == {
        path.name,
        f"{path.name}.lock",
    }


def test_half_made_mirror_is_made_anew(
    mirror: Mirror, mirrors: MirrorCache, forge: WorkTree
) -> None:
    (mirror.objects.git.path / "HEAD").unlink()
    assert mirrors.fetch(url_of(forge), None, [TRUNK]).resolve(TRUNK) == forge.head


def test_lock_that_a_killed_worker_left_does_not_block(
    mirror: Mirror, mirrors: MirrorCache, forge: WorkTree, origin: WorkTree
) -> None:
    origin.commit("Newer")
    origin.git("push", "--quiet", str(forge.path), "trunk")
    (mirror.objects.git.path / "refs/heads/trunk.lock").touch()
    assert mirrors.fetch(url_of(forge), None, [TRUNK]).resolve(TRUNK) == origin.head


def test_run_under_way_survives_a_new_mirror(
    mirror: Mirror, mirrors: MirrorCache, forge: WorkTree, origin: WorkTree
) -> None:
    sha = new_commit(mirror, origin, b"fixed\n")
    (mirror.objects.git.path / "refs/heads/trunk.lock").touch()
    origin.commit("Newer")
    origin.git("push", "--quiet", str(forge.path), "trunk")
    assert mirrors.fetch(url_of(forge), None, [TRUNK]).resolve(sha) == sha


def test_many_workers_share_one_mirror(forge: WorkTree, tmp_path: Path) -> None:
    seen: list[str] = []

    def fetch() -> None:
        own = MirrorCache(tmp_path / "mirrors")
        seen.append(own.fetch(url_of(forge), None, [TRUNK]).resolve(TRUNK))

    workers = [threading.Thread(target=fetch) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert seen == [forge.head] * 6


def test_push_makes_the_branch_and_may_be_repeated(
    mirror: Mirror, forge: WorkTree, origin: WorkTree
) -> None:
    sha = new_commit(mirror, origin, b"fixed\n")
    push(mirror, sha)
    push(mirror, sha)
    assert forge.git("rev-parse", "refs/heads/bot/fix") == sha


def test_branch_that_exists_is_not_taken_over(
    mirror: Mirror, forge: WorkTree, origin: WorkTree
) -> None:
    forge.git("branch", "bot/fix", "trunk")
    with pytest.raises(BranchMovedError, match="has changed"):
        push(mirror, new_commit(mirror, origin, b"fixed\n"))


def test_moved_head_is_refused_with_the_lease(
    mirror: Mirror, forge: WorkTree, origin: WorkTree
) -> None:
    ours = new_commit(mirror, origin, b"ours\n")
    left_at = mirror.resolve(TRUNK)
    theirs = origin.commit("Theirs")
    origin.git("push", "--quiet", str(forge.path), f"{theirs}:refs/heads/bot/fix")
    with pytest.raises(BranchMovedError):
        push(mirror, ours, expect=left_at)
    assert forge.git("rev-parse", "refs/heads/bot/fix") == theirs


def test_s32_push_goes_to_the_exact_head_branch(
    mirror: Mirror, forge: WorkTree, origin: WorkTree
) -> None:
    forge.git("branch", "feature/x", "trunk")
    sha = new_commit(mirror, origin, b"fixed\n")
    push(mirror, sha, branch="feature/x", expect=mirror.resolve(TRUNK))
    listed = forge.git("for-each-ref", "--format=%(refname) %(objectname)")
    assert listed.splitlines() == [
        f"refs/heads/feature/x {sha}",
        f"refs/heads/trunk {forge.head}",
    ]


def test_default_branch_is_refused(
    mirror: Mirror, forge: WorkTree, origin: WorkTree
) -> None:
    sha = new_commit(mirror, origin, b"fixed\n")
    with pytest.raises(
        PushRefusedError, match="is not a branch that the bot may write"
    ):
        push(mirror, sha, branch="trunk", expect=mirror.resolve(TRUNK))
    assert forge.head != sha


def test_rule_of_the_remote_is_told_in_its_own_words(
    mirror: Mirror, forge: WorkTree, origin: WorkTree
) -> None:
    hook = forge.path / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'GH013: Commits must be signed' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(PushRefusedError, match="GH013: Commits must be signed"):
        push(mirror, new_commit(mirror, origin, b"fixed\n"))


@pytest.mark.parametrize(
    "branch",
    ["--upload-pack=x", "-f", "a..b", "a b", "a~1", "", "HEAD", "a.lock", "x\0y"],
)
def test_branch_name_git_would_misread_is_refused(mirror: Mirror, branch: str) -> None:
    with pytest.raises(GitError, match="not a valid"):
        push(mirror, mirror.resolve(TRUNK), branch=branch)


@pytest.mark.parametrize("branch", ["a;id", "$(id)", "`id`", "ümlaut"])
def test_branch_name_with_odd_signs_is_only_a_name(
    mirror: Mirror, forge: WorkTree, branch: str
) -> None:
    push(mirror, mirror.resolve(TRUNK), branch=branch)
    assert forge.git("rev-parse", f"refs/heads/{branch}") == mirror.resolve(TRUNK)


def test_s82_credential_is_nowhere_on_disk(
    mirrors: MirrorCache, forge: WorkTree, tmp_path: Path
) -> None:
    credential = GitCredential.model_validate(
        {"username": "x-access-token", "token": "ghs_planted"}
    )
    mirrors.fetch(url_of(forge), credential, [TRUNK])
    files = [file for file in (tmp_path / "mirrors").rglob("*") if file.is_file()]
    assert files
    assert not [file for file in files if b"ghs_planted" in file.read_bytes()]
