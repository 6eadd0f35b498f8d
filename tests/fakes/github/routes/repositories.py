"""REST: repositories, what people may do there, branches and references."""

from tests.fakes.github import bare
from tests.fakes.github.access import (
    READ_CONTENTS,
    WRITE_CONTENTS,
    Need,
    forbidden,
    grant_of,
    may,
)
from tests.fakes.github.acts.repositories import delete_reference
from tests.fakes.github.auth import CallerKind
from tests.fakes.github.call import Call, Route
from tests.fakes.github.comparison import commit_of
from tests.fakes.github.exchange import Answer, RefusedError, not_found
from tests.fakes.github.render.git_data import branch_json, commit_json, ref_json
from tests.fakes.github.render.repositories import (
    full_repository_json,
    permissions_json,
)
from tests.fakes.github.render.users import user_json
from tests.fakes.github.state import AccountKind, Grant, Repo, Role

SEE_PERMISSIONS = Need(("metadata",), "read", Role.WRITE)
# The words from before there were five roles.
# https://docs.github.com/rest/collaborators/collaborators#get-repository-permissions-for-a-user
OLD_WORDS = {
    Role.NONE: "none",
    Role.READ: "read",
    Role.TRIAGE: "read",
    Role.WRITE: "write",
    Role.MAINTAIN: "write",
    Role.ADMIN: "admin",
}


def show_repository(call: Call) -> Answer:
    repo = call.repo()
    body = full_repository_json(call.world, repo, _role_of(call, repo))
    return Answer(status=200, body=body)


def show_permission(call: Call) -> Answer:
    repo = call.repo()
    if not may(call.caller, repo, SEE_PERMISSIONS):
        if call.caller.kind is CallerKind.PERSONAL:
            problem = "Must have push access to view collaborator permission."
            raise RefusedError(403, problem)
        raise forbidden(call.caller)
    user = call.world.users.get(call.args["username"].lower())
    if user is None or user.kind is not AccountKind.USER:
        raise RefusedError(404, f"{call.args['username']} is not a user")
    granted = grant_of(repo, user.login)
    return Answer(status=200, body=_permission_json(call, user.login, granted))


def show_branch(call: Call) -> Answer:
    repo = call.repo(READ_CONTENTS)
    name = call.args["branch"]
    sha = bare.find_commit(repo.git, f"refs/heads/{name}")
    if sha is None:
        raise RefusedError(404, "Branch not found")
    commit = commit_of(repo.git, sha)
    return Answer(status=200, body=branch_json(call.world, repo, name, commit))


def show_ref(call: Call) -> Answer:
    repo = call.repo(READ_CONTENTS)
    ref = f"refs/{call.args['ref']}"
    sha = bare.find_commit(repo.git, ref)
    if sha is None:
        raise not_found()
    return Answer(status=200, body=ref_json(call.world, repo, ref, sha))


def delete_ref(call: Call) -> Answer:
    repo = call.repo(WRITE_CONTENTS)
    ref = f"refs/{call.args['ref']}"
    delete_reference(call.world, repo, ref, call.actor())
    return Answer(status=204)


def show_commit(call: Call) -> Answer:
    repo = call.repo(READ_CONTENTS)
    name = call.args["ref"]
    found = bare.find_commit(repo.git, f"refs/heads/{name}")
    sha = found or bare.find_commit(repo.git, name)
    if sha is None:
        raise RefusedError(422, f"No commit found for SHA: {name}")
    body = commit_json(call.world, repo, commit_of(repo.git, sha))
    return Answer(status=200, body=body)


def _role_of(call: Call, repo: Repo) -> Role:
    if call.caller.kind is CallerKind.PERSONAL:
        return grant_of(repo, call.actor()).role
    return Role.WRITE if may(call.caller, repo, WRITE_CONTENTS) else Role.READ


def _permission_json(call: Call, login: str, granted: Grant) -> dict[str, object]:
    user = user_json(call.world, call.world.user(login))
    rights = permissions_json(granted.role)
    return {
        "permission": OLD_WORDS[granted.role],
        "role_name": granted.role_name,
        "user": {**user, "permissions": rights, "role_name": granted.role_name},
    }


ROUTES = (
    Route("GET", "/repos/{owner}/{repo}", show_repository),
    Route(
        "GET",
        "/repos/{owner}/{repo}/collaborators/{username}/permission",
        show_permission,
    ),
    Route("GET", "/repos/{owner}/{repo}/branches/{branch}", show_branch),
    Route("GET", "/repos/{owner}/{repo}/git/ref/{ref}", show_ref),
    Route("DELETE", "/repos/{owner}/{repo}/git/refs/{ref}", delete_ref),
    Route("GET", "/repos/{owner}/{repo}/commits/{ref}", show_commit),
)
