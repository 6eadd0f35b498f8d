"""Decide who may see and do what in a project."""

from tests.fakes.gitlab.auth import Caller
from tests.fakes.gitlab.exchange import RefusedError, forbidden, not_found, unauthorized
from tests.fakes.gitlab.state import Level, Project, User, Visibility, World
from tests.fakes.gitlab.thread_state import Note, Thread, ThreadKind


def ancestors(path: str) -> list[str]:
    """Return the groups above, the nearest first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]


def group_level(world: World, path: str, user: int) -> Level:
    """Return what somebody may do in a group, through those above it as well."""
    found = [
        group.members.get(user, Level.NONE)
        for name in (path, *ancestors(path))
        if (group := world.groups.get(name.lower())) is not None
    ]
    return max(found, default=Level.NONE)


def level_of(world: World, project: Project, user: User | None) -> Level:
    """Return the effective level: own, inherited, or lent to a group of theirs.

    https://docs.gitlab.com/user/project/members/
    """
    if user is None:
        return Level.NONE
    if user.is_admin:
        return Level.ADMIN
    return membership_of(world, project, user)


def membership_of(world: World, project: Project, user: User) -> Level:
    """Return the level of somebody as a member, which an administrator needs not be."""
    if project.namespace.lower() == user.username.lower():
        return Level.OWNER
    lent = [
        min(most, group_level(world, group, user.id))
        for group, most in project.shared.items()
    ]
    own = project.members.get(user.id, Level.NONE)
    return max([own, group_level(world, project.namespace, user.id), *lent])


def sees(world: World, project: Project, user: User | None) -> bool:
    match project.visibility:
        case Visibility.PUBLIC:
            return True
        case Visibility.INTERNAL if user is not None and not user.is_external:
            return True
        case _:
            return level_of(world, project, user) >= Level.GUEST


def reads_code(world: World, project: Project, user: User | None) -> bool:
    """Guests of a private project don't see its code."""
    if project.visibility is Visibility.PRIVATE:
        return level_of(world, project, user) >= Level.REPORTER
    return sees(world, project, user)


def require(world: World, caller: Caller, project: Project, level: Level) -> None:
    """Raise a refusal where the caller sees the project but may not do this."""
    if caller.user is None:
        raise unauthorized()
    if level_of(world, project, caller.user) < level:
        raise forbidden()


def require_writable(project: Project) -> None:
    if project.archived:
        raise forbidden()


def sees_thread(world: World, project: Project, thread: Thread, caller: Caller) -> bool:
    """Tell whether a confidential issue is for this reader, too.

    https://docs.gitlab.com/user/project/issues/confidential_issues/
    """
    if not thread.confidential:
        return True
    user = caller.user
    if user is None:
        return False
    is_part = user.id == thread.author or user.id in thread.assignees
    return is_part or level_of(world, project, user) >= Level.PLANNER


def sees_note(world: World, project: Project, note: Note, caller: Caller) -> bool:
    """Tell whether a note is for this reader, who works there if it is internal."""
    if not note.internal:
        return True
    if caller.user is None:
        return False
    is_own = caller.user.id == note.author
    return is_own or level_of(world, project, caller.user) >= Level.PLANNER


def may_change(world: World, project: Project, thread: Thread, user: User) -> bool:
    """Let authors change what is theirs; others need a level, by what it is."""
    needed = Level.PLANNER
    if thread.kind is ThreadKind.MERGE_REQUEST:
        needed = Level.DEVELOPER
    return user.id == thread.author or level_of(world, project, user) >= needed


def may_comment(world: World, project: Project, thread: Thread, user: User) -> bool:
    """Tell whether somebody may write there; a locked one is for members alone."""
    if project.archived:
        return False
    return not thread.locked or level_of(world, project, user) >= Level.GUEST


def missing_project() -> RefusedError:
    return not_found("Project Not Found")
