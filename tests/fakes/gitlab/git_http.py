"""Git over smart HTTP: the doorkeeper in front of git's own server."""

import json
import re
from dataclasses import asdict, dataclass

from tests.fakes.git_backend import Asked, run_backend
from tests.fakes.github.exchange import Request
from tests.fakes.github.server import Wire
from tests.fakes.gitlab.access import level_of, reads_code, sees
from tests.fakes.gitlab.acts.follow import follow_pushes
from tests.fakes.gitlab.auth import ANONYMOUS, Caller, identify_git, may_use_git
from tests.fakes.gitlab.exchange import RefusedError
from tests.fakes.gitlab.state import Level, Project, PushRules, World

ADDRESS = re.compile(
    r"/(?P<path>[^/]+(?:/[^/]+?)+?)(?:\.git)?"
    r"/(?P<service>info/refs|git-upload-pack|git-receive-pack)"
)
DENIED = (
    "HTTP Basic: Access denied. If a password was provided for Git authentication, "
    "the password was incorrect or you're required to use a token instead of a "
    "password. If a token was provided, it was either incorrect, expired, or "
    "improperly scoped."
)
MISSING = (
    "The project you were looking for could not be found or you don't have permission "
    "to view it."
)


@dataclass(frozen=True)
class Door:
    """An open door; `lent` are the only branches that may be pushed to, if any are."""

    caller: Caller
    project: Project
    lent: list[str] | None = None


class _ShutError(Exception):
    def __init__(self, status: int, text: str, headers: dict[str, str]) -> None:
        super().__init__(text)
        # Git shows only what is plain text.
        kind = {"Content-Type": "text/plain; charset=utf-8"}
        self.wire = Wire(status, {**kind, **headers}, f"{text}\n".encode())


def is_git(path: str) -> bool:
    return ADDRESS.fullmatch(path) is not None


def serve(world: World, request: Request) -> tuple[Wire, Caller]:
    """Let git do what the caller may; afterwards merge requests follow their heads."""
    caller = ANONYMOUS
    try:
        with world.lock:
            caller = _identify(world, request)
            door = _open(world, caller, request)
            rules = _rules(world, door)
    except _ShutError as refusal:
        return refusal.wire, caller
    found = ADDRESS.fullmatch(request.path)
    service = found["service"] if found else ""
    pusher = caller.user.username if caller.user else ""
    asked = Asked(world.folder, door.project.git, service, pusher, rules)
    wire = Wire(*run_backend(asked, request))
    if service == "git-receive-pack" and caller.user is not None:
        with world.lock:
            follow_pushes(world, world.projects[door.project.id], caller.user.id)
    return wire, caller


def _identify(world: World, request: Request) -> Caller:
    try:
        return identify_git(world, request)
    except RefusedError as refusal:
        raise _denied() from refusal


def _denied() -> _ShutError:
    return _ShutError(401, DENIED, {"WWW-Authenticate": 'Basic realm="GitLab"'})


def _open(world: World, caller: Caller, request: Request) -> Door:
    found = ADDRESS.fullmatch(request.path)
    path = found["path"] if found else ""
    project = world.find_project(path)
    if project is None and path.lower() in world.moved:
        raise _moved(world, request, path)
    pushes = request.path.endswith("/git-receive-pack") or (
        request.query.get("service") == "git-receive-pack"
    )
    if caller.user is None and (pushes or project is None):
        raise _denied()
    if project is None or not sees(world, project, caller.user):
        raise _denied() if caller.user is None else _ShutError(404, MISSING, {})
    if caller.token is not None and not may_use_git(caller, pushes=False):
        raise _denied()
    if pushes:
        return _open_for_pushes(world, caller, project)
    if not reads_code(world, project, caller.user):
        text = "You are not allowed to download code from this project."
        raise _ShutError(403, text, {})
    return Door(caller, project)


def _moved(world: World, request: Request, path: str) -> _ShutError:
    """Send who asks for the old path to the new one, as git lets itself be sent."""
    there = world.projects[world.moved[path.lower()]].path
    rest = request.path.rpartition(".git/")[2] or request.path[len(path) + 2 :]
    query = "&".join(f"{name}={value}" for name, value in request.query.items())
    url = f"{world.base_url}/{there}.git/{rest}{'?' if query else ''}{query}"
    return _ShutError(301, "Moved Permanently", {"Location": url})


def _open_for_pushes(world: World, caller: Caller, project: Project) -> Door:
    if not may_use_git(caller, pushes=True):
        raise _ShutError(403, "You are not allowed to upload code.", {})
    if project.archived:
        text = "You can't push code to a read-only project."
        raise _ShutError(403, text, {})
    if level_of(world, project, caller.user) >= Level.DEVELOPER:
        return Door(caller, project)
    lent = _lent_branches(world, caller, project)
    if not lent:
        text = "You are not allowed to push code to this project."
        raise _ShutError(403, text, {})
    return Door(caller, project, lent)


def _lent_branches(world: World, caller: Caller, project: Project) -> list[str]:
    """Return the branches of a fork that its owner lets the target's members push to.

    https://docs.gitlab.com/user/project/merge_requests/allow_collaboration/
    """
    return [
        merge.source_branch
        for thread in world.threads.values()
        if thread.is_open
        and (merge := thread.merge) is not None
        and merge.allow_collaboration
        and merge.source_project == project.id
        and level_of(world, world.projects[thread.project], caller.user)
        >= Level.DEVELOPER
    ]


def _rules(world: World, door: Door) -> dict[str, str]:
    """Return what the guard of the repository has to see to; nothing for most."""
    project = door.project
    level = level_of(world, project, door.caller.user)
    if not project.protected and project.rules == PushRules() and door.lent is None:
        return {}
    asked = {
        "lent": door.lent,
        "default": project.default_branch,
        "protected": {
            name: [Level.NONE < one.push <= level, one.allow_force_push]
            for name, one in project.protected.items()
        },
        "rules": asdict(project.rules),
        "proposals": f"{world.base_url}/{project.path}/-/merge_requests/new"
        "?merge_request%5Bsource_branch%5D=",
    }
    return {"GITLAB_PUSH": json.dumps(asked)}
