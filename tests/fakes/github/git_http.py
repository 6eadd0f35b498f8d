"""Git over smart HTTP: the doorkeeper in front of git's own server."""

import re
from dataclasses import dataclass

from tests.fakes.git_backend import Asked, run_backend
from tests.fakes.github.access import (
    READ_CONTENTS,
    WRITE_CONTENTS,
    grant_of,
    may,
    visible_repo,
)
from tests.fakes.github.acts.pulls import follow_heads
from tests.fakes.github.acts.rules import rules_of
from tests.fakes.github.auth import (
    ANONYMOUS,
    Caller,
    CallerKind,
    identify_git,
)
from tests.fakes.github.exchange import RefusedError, Request
from tests.fakes.github.state import Repo, Role, World

ADDRESS = re.compile(
    r"/(?P<repo>[^/]+/[^/]+?)(?:\.git)?"
    r"/(?P<service>info/refs|git-upload-pack|git-receive-pack)"
)


@dataclass(frozen=True, kw_only=True)
class GitAnswer:
    status: int
    headers: dict[str, str]
    body: bytes
    caller: CallerKind


@dataclass(frozen=True)
class Door:
    """An open door: who came in, to which repository, and what they may push to.

    `writable` is None where nothing but protection limits the push.
    """

    caller: Caller
    repo: Repo
    writable: str | None = None


def is_git(path: str) -> bool:
    return ADDRESS.fullmatch(path) is not None


def serve(world: World, request: Request) -> GitAnswer:
    """Let git do what the caller may; afterwards pull requests follow their heads."""
    caller = ANONYMOUS
    try:
        with world.lock:
            caller = identify_git(world, request.headers.get("authorization"))
            door = _open(world, caller, request)
    except RefusedError as refusal:
        unknown = refusal.message == "Bad credentials"
        return _refuse(refusal, CallerKind.REFUSED if unknown else caller.kind)
    status, headers, body = _run_backend(world, door, request)
    if request.path.endswith("/git-receive-pack"):
        actor = door.caller.user.login if door.caller.user else ""
        with world.lock:
            follow_heads(world, door.repo, actor)
    return GitAnswer(status=status, headers=headers, body=body, caller=caller.kind)


def _open(world: World, caller: Caller, request: Request) -> Door:
    match = ADDRESS.fullmatch(request.path)
    name = match["repo"] if match else ""
    pushes = request.path.endswith("/git-receive-pack") or (
        request.query.get("service") == "git-receive-pack"
    )
    try:
        repo = visible_repo(world, caller, name)
    except RefusedError as refusal:
        # Without a credential GitHub doesn't tell hidden from missing; it asks.
        if caller.kind is CallerKind.ANONYMOUS:
            raise RefusedError(401, "Repository not found.") from refusal
        raise RefusedError(404, "Repository not found.") from refusal
    if not pushes:
        return _open_for_reading(caller, repo)
    return _open_for_writing(world, caller, repo)


def _open_for_reading(caller: Caller, repo: Repo) -> Door:
    if not may(caller, repo, READ_CONTENTS):
        raise RefusedError(403, "Write access to repository not granted.")
    return Door(caller, repo)


def _open_for_writing(world: World, caller: Caller, repo: Repo) -> Door:
    if caller.user is None:
        raise RefusedError(401, "Invalid username or token.")
    if rules_of(world, repo).archived:
        raise RefusedError(403, "This repository was archived so it is read-only.")
    if may(caller, repo, WRITE_CONTENTS):
        return Door(caller, repo)
    branches = _lent_branches(world, caller, repo)
    if not branches:
        problem = f"Permission to {repo.full_name}.git denied to {caller.user.login}."
        raise RefusedError(403, problem)
    return Door(caller, repo, "\n".join(f"refs/heads/{name}" for name in branches))


def _lent_branches(world: World, caller: Caller, repo: Repo) -> list[str]:
    """Return the branches of a fork that its owner lets the maintainers push to.

    https://docs.github.com/pull-requests/collaborating-with-pull-requests/working-with-forks/allowing-changes-to-a-pull-request-branch-created-from-a-fork
    """
    if caller.user is None or caller.kind is not CallerKind.PERSONAL:
        return []
    return [
        issue.pull.head_branch
        for issue in world.issues.values()
        if issue.is_open
        and issue.pull is not None
        and issue.pull.head_repo == repo.full_name
        and issue.pull.maintainer_can_modify
        and grant_of(world.repo(issue.repo), caller.user.login).role >= Role.WRITE
    ]


def _run_backend(
    world: World, door: Door, request: Request
) -> tuple[int, dict[str, str], bytes]:
    service = request.path[len("/") :].split("/", 2)[2]
    protected = [f"refs/heads/{name}" for name in sorted(door.repo.protected)]
    rules = {
        "PROTECTED_REFS": "\n".join(protected),
        "WRITABLE_REFS": door.writable or "",
        **_rules(world, door),
    }
    pusher = door.caller.user.login if door.caller.user else ""
    asked = Asked(world.folder, door.repo.git, service, pusher, rules)
    return run_backend(asked, request)


def _rules(world: World, door: Door) -> dict[str, str]:
    """Return what the guard of the repository has to see to.

    GitHub says that of workflows as the reason of its refusal, not as a message.
    """
    rules, token = rules_of(world, door.repo), door.caller.token
    is_person = door.caller.kind is CallerKind.PERSONAL
    is_let = is_person or bool(token and "workflows" in token.permissions)
    return {
        "SIGNED_ONLY": "yes" if rules.signatures else "",
        "NO_NEW_BRANCHES": "yes" if rules.no_new_branches else "",
        "NO_WORKFLOWS": "" if is_let else "yes",
    }


def _refuse(refusal: RefusedError, caller: CallerKind) -> GitAnswer:
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    if refusal.status == 401:
        headers["WWW-Authenticate"] = 'Basic realm="GitHub"'
    body = f"{refusal.message}\n".encode()
    return GitAnswer(status=refusal.status, headers=headers, body=body, caller=caller)
