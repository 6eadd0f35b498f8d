"""Notes and emoji under issues and merge requests."""

import hashlib
from dataclasses import dataclass, replace

from tests.fakes.gitlab.diffs import files_of
from tests.fakes.gitlab.exchange import RefusedError, forbidden, refused
from tests.fakes.gitlab.state import World
from tests.fakes.gitlab.thread_state import Award, Note, Position, Thread
from tests.fakes.gitlab.webhooks.threads import tell_emoji, tell_note

MAX_NOTE = 1_000_000
NO_LINE = (
    'Note {:line_code=>["can\'t be blank", "must be a valid line code"], '
    ':position=>["is incomplete"]}'
)


@dataclass(frozen=True, kw_only=True)
class Words:
    """What somebody writes: `type` is GitLab's word, None for a note by itself."""

    body: str
    discussion: str = ""
    type: str | None = None
    internal: bool = False
    position: Position | None = None


def write_note(world: World, thread: Thread, author: int, words: Words) -> Note:
    """Write a note and tell of it; in an internal discussion it is internal, too."""
    check_body(words.body)
    if words.position is not None:
        _check_position(world, thread, words.position)
    now = world.clock.now()
    number = world.next_id()
    before = [one for one in world.notes_of(thread) if _is_in(one, words.discussion)]
    note = Note(
        id=number,
        thread=thread.id,
        discussion=words.discussion or name_discussion(number),
        author=author,
        body=words.body,
        created_at=now,
        updated_at=now,
        type=words.type,
        internal=words.internal or any(one.internal for one in before),
        position=words.position or next((one.position for one in before), None),
    )
    for one in before:
        if one.type is None:
            # Who answers a note by itself makes a discussion of it.
            world.notes[one.id] = replace(one, type="DiscussionNote")
    world.notes[number] = note
    world.put_thread(replace(thread, updated_at=now))
    tell_note(world, note, "create")
    return note


def write_system_note(world: World, thread: Thread, actor: int, body: str) -> Note:
    """Write what GitLab notes by itself, of which it tells nobody."""
    now = world.clock.now()
    number = world.next_id()
    note = Note(
        id=number,
        thread=thread.id,
        discussion=name_discussion(number),
        author=actor,
        body=body,
        created_at=now,
        updated_at=now,
        system=True,
    )
    world.notes[number] = note
    return note


def edit_note(world: World, note: Note, actor: int, body: str) -> Note:
    check_body(body)
    now = world.clock.now()
    edited = replace(note, body=body, updated_at=now, edited_by=actor)
    world.notes[note.id] = edited
    # Whatever happens to a note is a change of its thread.
    world.put_thread(replace(world.threads[note.thread], updated_at=now))
    if body != note.body:
        tell_note(world, edited, "update")
    return edited


def delete_note(world: World, note: Note) -> None:
    """Take a note away, of which no webhook tells."""
    del world.notes[note.id]


def resolve(
    world: World, thread: Thread, discussion: str, actor: int, *, resolved: bool
) -> None:
    """Resolve a discussion or open it again."""
    at = world.clock.now() if resolved else None
    by = actor if resolved else None
    for note in world.notes_of(thread):
        if _is_in(note, discussion) and note.resolvable:
            world.notes[note.id] = replace(note, resolved_at=at, resolved_by=by)


def award(
    world: World, awardable: int, awardable_type: str, user: int, name: str
) -> Award:
    """Give an emoji, each of a kind once, as GitLab says with these very words."""
    if not name.strip():
        raise refused(400, "Award Emoji Name is invalid")
    for given in world.awards_on(awardable):
        if given.user == user and given.name == name:
            raise refused(404, "Award Emoji Name has already been taken Not Found")
    made = Award(
        id=world.next_id(),
        awardable=awardable,
        awardable_type=awardable_type,
        user=user,
        name=name,
        created_at=world.clock.now(),
    )
    world.awards[made.id] = made
    tell_emoji(world, made, "award")
    return made


def revoke(world: World, made: Award, actor: int) -> None:
    if made.user != actor and not world.users[actor].is_admin:
        raise forbidden()
    del world.awards[made.id]
    tell_emoji(world, made, "revoke")


def check_body(body: str) -> None:
    """Raise a 400 for a text that GitLab would not keep."""
    problem = ""
    if not body.strip():
        problem = "can't be blank"
    elif len(body) > MAX_NOTE:
        problem = f"is too long (maximum is {MAX_NOTE} characters)"
    if problem:
        raise refused(400, f'Bad request - Note {{:note=>["{problem}"]}}')


def name_discussion(number: int) -> str:
    return hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest()


def _is_in(note: Note, discussion: str) -> bool:
    return bool(discussion) and note.discussion == discussion


def _check_position(world: World, thread: Thread, place: Position) -> None:
    """Raise a 400 for a line of a file that the diff does not have."""
    paths = {
        name for one in files_of(world, thread) for name in (one.path, one.old_path)
    }
    if place.new_path not in paths and place.old_path not in paths:
        raise RefusedError(400, {"message": f"400 Bad request - {NO_LINE}"})
