"""REST: references are made and moved, commits shown as git has them."""

from pathlib import Path

from tests.fakes.github import bare
from tests.fakes.github.access import READ_CONTENTS, WRITE_CONTENTS
from tests.fakes.github.acts.pulls import follow_heads
from tests.fakes.github.acts.rules import check_archived, check_new_branch, is_signed
from tests.fakes.github.call import Call, Route
from tests.fakes.github.comparison import commit_of
from tests.fakes.github.exchange import Answer, RefusedError, not_found
from tests.fakes.github.render.git_data import git_commit_json, ref_json


def make_ref(call: Call) -> Answer:
    repo = call.repo(WRITE_CONTENTS)
    check_archived(call.world, repo)
    wanted = call.request.json()
    ref, sha = str(wanted.get("ref")), str(wanted.get("sha"))
    if bare.find_commit(repo.git, sha) is None:
        raise RefusedError(422, "Object does not exist")
    if bare.find_commit(repo.git, ref) is not None:
        raise RefusedError(422, "Reference already exists")
    if is_blocked(repo.git, ref):
        raise RefusedError(422, "Reference update failed")
    check_new_branch(call.world, repo)
    bare.git(repo.git, "update-ref", ref, sha)
    return Answer(status=201, body=ref_json(call.world, repo, ref, sha))


def is_blocked(folder: Path, ref: str) -> bool:
    """Tell whether a reference is a folder of this one, or this one of another."""
    listed = bare.git(folder, "for-each-ref", "--format=%(refname)").decode().split()
    return any(one.startswith(f"{ref}/") or ref.startswith(f"{one}/") for one in listed)


def move_ref(call: Call) -> Answer:
    repo = call.repo(WRITE_CONTENTS)
    check_archived(call.world, repo)
    wanted, ref = call.request.json(), f"refs/{call.args['ref']}"
    old, sha = bare.find_commit(repo.git, ref), str(wanted.get("sha"))
    if old is None:
        raise RefusedError(422, "Reference does not exist")
    if ref.removeprefix("refs/heads/") in repo.protected:
        raise RefusedError(422, f"Protected branch update failed for {ref}.")
    if not wanted.get("force") and old not in _history(call, sha):
        raise RefusedError(422, "Update is not a fast forward")
    bare.git(repo.git, "update-ref", ref, sha)
    follow_heads(call.world, repo, call.actor())
    return Answer(status=200, body=ref_json(call.world, repo, ref, sha))


def show_commit(call: Call) -> Answer:
    repo = call.repo(READ_CONTENTS)
    sha = bare.find_commit(repo.git, call.args["commit_sha"])
    if sha is None:
        raise not_found()
    commit = commit_of(repo.git, sha)
    signed = is_signed(repo, sha)
    shown = git_commit_json(call.world, repo, commit, signed=signed)
    return Answer(status=200, body=shown)


def _history(call: Call, sha: str) -> list[str]:
    return bare.git(call.repo().git, "rev-list", sha).decode().split()


GIT = "/repos/{owner}/{repo}/git"
ROUTES = (
    Route("POST", f"{GIT}/refs", make_ref),
    Route("PATCH", f"{GIT}/refs/{{ref}}", move_ref),
    Route("GET", f"{GIT}/commits/{{commit_sha}}", show_commit),
)
