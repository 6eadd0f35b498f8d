"""Notes, discussions and emoji as the API shows them."""

from collections.abc import Sequence
from itertools import groupby

from tests.fakes.gitlab.exchange import Json
from tests.fakes.gitlab.render.positions import position_json
from tests.fakes.gitlab.render.users import moment, person_json, user_json
from tests.fakes.gitlab.state import World
from tests.fakes.gitlab.thread_state import Award, Note, ThreadKind
from tests.fakes.gitlab.webhooks.threads import line_code


def note_json(world: World, note: Note) -> Json:
    thread = world.threads[note.thread]
    shown = {
        "id": note.id,
        "type": note.type,
        "body": note.body,
        "attachment": None,
        "author": user_json(world, world.users[note.author]),
        "created_at": moment(note.created_at),
        "updated_at": moment(note.updated_at),
        "system": note.system,
        "noteable_id": thread.id,
        "noteable_type": thread.kind.value,
        "project_id": thread.project,
        "resolvable": is_resolvable(world, note),
        "confidential": note.internal,
        "internal": note.internal,
        "noteable_iid": thread.iid,
        "imported": False,
        "imported_from": "none",
        "commands_changes": {},
    }
    if note.position is not None:
        shown["position"] = position_json(note.position)
        shown["line_code"] = line_code(note)
        shown["commit_id"] = None
    if is_resolvable(world, note):
        shown |= {
            "resolved": note.resolved_at is not None,
            "resolved_by": person_json(world, note.resolved_by),
            "resolved_at": moment(note.resolved_at),
        }
    return shown


def is_resolvable(world: World, note: Note) -> bool:
    """Discussions of merge requests can be resolved, those of issues cannot."""
    kind = world.threads[note.thread].kind
    return note.resolvable and kind is ThreadKind.MERGE_REQUEST


def discussions_json(world: World, notes: Sequence[Note]) -> list[Json]:
    """Return the notes by discussion, in the order in which these began."""
    first: dict[str, int] = {}
    for place, note in enumerate(notes):
        first.setdefault(note.discussion, place)
    ordered = sorted(notes, key=lambda note: first[note.discussion])
    return [
        discussion_json(world, list(group))
        for _, group in groupby(ordered, key=lambda note: note.discussion)
    ]


def discussion_json(world: World, notes: Sequence[Note]) -> Json:
    shown = {
        "id": notes[0].discussion,
        "individual_note": notes[0].type is None,
        "notes": [note_json(world, one) for one in notes],
    }
    if is_resolvable(world, notes[0]):
        shown["resolvable"] = True
        shown["resolved"] = all(one.resolved_at is not None for one in notes)
    return shown


def award_json(world: World, award: Award) -> Json:
    at = moment(award.created_at)
    return {
        "id": award.id,
        "name": award.name,
        "user": user_json(world, world.users[award.user]),
        "created_at": at,
        "updated_at": at,
        "awardable_id": award.awardable,
        "awardable_type": award.awardable_type,
        "url": None,
    }
