"""Notes, discussions and emoji, which issues and merge requests have alike."""

from dataclasses import replace

from tests.fakes.github.exchange import Answer
from tests.fakes.gitlab.access import level_of, may_comment, sees_note
from tests.fakes.gitlab.acts import notes
from tests.fakes.gitlab.acts.notes import NO_LINE, Words
from tests.fakes.gitlab.acts.quick_actions import Read, carry_out, read_orders
from tests.fakes.gitlab.call import Call, Route, as_bool, paged
from tests.fakes.gitlab.exchange import (
    RefusedError,
    forbidden,
    missing,
    not_found,
    refused,
)
from tests.fakes.gitlab.render.notes import (
    award_json,
    discussion_json,
    discussions_json,
    note_json,
)
from tests.fakes.gitlab.render.positions import read_position
from tests.fakes.gitlab.routes.threads import find_thread
from tests.fakes.gitlab.state import Level
from tests.fakes.gitlab.thread_state import Award, Note, Position, Thread

THREAD = "/projects/{id}/{kind}/{iid}"
NOTE = THREAD + "/notes/{note_id}"
DISCUSSION = THREAD + "/discussions/{discussion_id}"


def list_notes(call: Call) -> Answer:
    """List notes, the newest first unless asked otherwise."""
    thread = find_thread(call)
    query = call.request.query
    found = _visible(call, thread)
    kinds = {"only_comments": (False,), "only_activity": (True,)}
    wanted = kinds.get(query.get("activity_filter", ""), (False, True))
    found = [one for one in found if one.system in wanted]
    by_change = query.get("order_by") == "updated_at"
    found.sort(
        key=lambda one: (one.updated_at if by_change else one.created_at, one.id),
        reverse=query.get("sort", "desc") == "desc",
    )
    return paged(call, [note_json(call.world, one) for one in found])


def get_note(call: Call) -> Answer:
    return Answer(status=200, body=note_json(call.world, _note(call)))


def create_note(call: Call) -> Answer:
    thread = find_thread(call)
    asked = call.body()
    if "body" not in asked:
        raise missing("body")
    internal = as_bool(asked.get("internal")) or as_bool(asked.get("confidential"))
    words = Words(body=str(asked["body"]), internal=internal)
    note = _write(call, thread, words)
    return Answer(status=201, body=note_json(call.world, note))


def edit_note(call: Call) -> Answer:
    note = _note(call)
    asked = call.body()
    if "body" in asked:
        user = call.user()
        _require_own(call, note)
        note = notes.edit_note(call.world, note, user.id, str(asked["body"]))
    if "resolved" in asked:
        _resolve(call, note, resolved=as_bool(asked["resolved"]))
    return Answer(status=200, body=note_json(call.world, call.world.notes[note.id]))


def delete_note(call: Call) -> Answer:
    note = _note(call)
    call.user()
    _require_own(call, note)
    notes.delete_note(call.world, note)
    return Answer(status=204)


def list_discussions(call: Call) -> Answer:
    thread = find_thread(call)
    return paged(call, discussions_json(call.world, _visible(call, thread)))


def get_discussion(call: Call) -> Answer:
    return Answer(status=200, body=discussion_json(call.world, _discussion(call)))


def create_discussion(call: Call) -> Answer:
    thread = find_thread(call)
    asked = call.body()
    if "body" not in asked:
        raise missing("body")
    place = None
    if "position" in asked:
        place = _read_place(asked["position"])
    words = Words(
        body=str(asked["body"]),
        type="DiffNote" if place else "DiscussionNote",
        internal=as_bool(asked.get("internal")),
        position=place,
    )
    note = _write(call, thread, words)
    return Answer(status=201, body=discussion_json(call.world, [note]))


def answer_discussion(call: Call) -> Answer:
    thread = find_thread(call)
    found = _discussion(call)
    asked = call.body()
    if "body" not in asked:
        raise missing("body")
    kind = found[0].type or "DiscussionNote"
    name = found[0].discussion
    words = Words(body=str(asked["body"]), type=kind, discussion=name)
    note = _write(call, thread, words)
    return Answer(status=201, body=note_json(call.world, note))


def resolve_discussion(call: Call) -> Answer:
    found = _discussion(call)
    asked = call.body()
    if "resolved" not in asked:
        raise missing("resolved")
    _resolve(call, found[0], resolved=as_bool(asked["resolved"]))
    return get_discussion(call)


def edit_discussion_note(call: Call) -> Answer:
    _discussion(call)
    return edit_note(call)


def list_awards(call: Call) -> Answer:
    found = call.world.awards_on(_awardable(call)[0])
    return paged(call, [award_json(call.world, one) for one in found])


def create_award(call: Call) -> Answer:
    number, kind = _awardable(call)
    user = call.user()
    thread = find_thread(call)
    project = call.world.projects[thread.project]
    if not may_comment(call.world, project, thread, user):
        raise not_found("Award Emoji Not Found")
    asked = {**call.request.query, **call.body()}
    if "name" not in asked:
        raise missing("name")
    made = notes.award(call.world, number, kind, user.id, str(asked["name"]))
    return Answer(status=201, body=award_json(call.world, made))


def delete_award(call: Call) -> Answer:
    made = _award(call)
    notes.revoke(call.world, made, call.user().id)
    return Answer(status=204)


def get_award(call: Call) -> Answer:
    return Answer(status=200, body=award_json(call.world, _award(call)))


def _award(call: Call) -> Award:
    made = call.world.awards.get(call.number("award_id"))
    if made is None or made.awardable != _awardable(call)[0]:
        raise not_found()
    return made


def _awardable(call: Call) -> tuple[int, str]:
    thread = find_thread(call)
    if "note_id" not in call.args:
        return thread.id, thread.kind.value
    return _note(call).id, "Note"


def _visible(call: Call, thread: Thread) -> list[Note]:
    project = call.world.projects[thread.project]
    return [
        one
        for one in call.world.notes_of(thread)
        if sees_note(call.world, project, one, call.caller)
    ]


def _note(call: Call) -> Note:
    thread = find_thread(call)
    number = call.number("note_id")
    found = [one for one in _visible(call, thread) if one.id == number]
    if not found:
        raise not_found()
    return found[0]


def _discussion(call: Call) -> list[Note]:
    thread = find_thread(call)
    wanted = call.args["discussion_id"]
    found = [one for one in _visible(call, thread) if one.discussion == wanted]
    if not found:
        raise not_found("Discussion Not Found")
    return found


def _write(call: Call, thread: Thread, words: Words) -> Note:
    user = call.user()
    project = call.world.projects[thread.project]
    if not may_comment(call.world, project, thread, user):
        raise forbidden()
    level = level_of(call.world, project, user)
    if words.internal and level < Level.PLANNER:
        # Who may not write an internal note writes none, rather than an open one.
        raise forbidden()
    read = read_orders(words.body)
    if not read.text and read.orders:
        carry_out(call.world, thread, user.id, read.orders)
        raise only_orders(read)
    note = notes.write_note(call.world, thread, user.id, replace(words, body=read.text))
    carry_out(call.world, thread, user.id, read.orders)
    return note


def only_orders(read: Read) -> RefusedError:
    """Answer where a text was nothing but orders: there is no note then."""
    summary = [f"Applied /{one.name}." for one in read.orders]
    return RefusedError(202, {"commands_changes": {}, "summary": summary})


def _require_own(call: Call, note: Note) -> None:
    """Let authors change their notes, and maintainers; nobody changes GitLab's."""
    thread = call.world.threads[note.thread]
    project = call.world.projects[thread.project]
    user = call.user()
    is_allowed = (
        note.author == user.id
        or level_of(call.world, project, user) >= Level.MAINTAINER
    )
    if note.system or not is_allowed:
        raise forbidden()


def _resolve(call: Call, note: Note, *, resolved: bool) -> None:
    thread = call.world.threads[note.thread]
    project = call.world.projects[thread.project]
    user = call.user()
    if thread.merge is None or not note.resolvable:
        raise forbidden()
    level = level_of(call.world, project, user)
    if level < Level.DEVELOPER and user.id != thread.author:
        raise forbidden()
    notes.resolve(call.world, thread, note.discussion, user.id, resolved=resolved)


def _read_place(asked: object) -> Position:
    place = read_position(asked) if isinstance(asked, dict) else None
    if place is None:
        raise refused(400, f"Bad request - {NO_LINE}")
    return place


ROUTES = (
    Route("GET", THREAD + "/notes", list_notes),
    Route("POST", THREAD + "/notes", create_note),
    Route("GET", NOTE, get_note),
    Route("PUT", NOTE, edit_note),
    Route("DELETE", NOTE, delete_note),
    Route("GET", THREAD + "/discussions", list_discussions),
    Route("POST", THREAD + "/discussions", create_discussion),
    Route("GET", DISCUSSION, get_discussion),
    Route("PUT", DISCUSSION, resolve_discussion),
    Route("POST", DISCUSSION + "/notes", answer_discussion),
    Route("PUT", DISCUSSION + "/notes/{note_id}", edit_discussion_note),
    Route("DELETE", DISCUSSION + "/notes/{note_id}", delete_note),
    Route("GET", THREAD + "/award_emoji", list_awards),
    Route("POST", THREAD + "/award_emoji", create_award),
    Route("GET", THREAD + "/award_emoji/{award_id}", get_award),
    Route("DELETE", THREAD + "/award_emoji/{award_id}", delete_award),
    Route("GET", NOTE + "/award_emoji", list_awards),
    Route("POST", NOTE + "/award_emoji", create_award),
    Route("GET", NOTE + "/award_emoji/{award_id}", get_award),
    Route("DELETE", NOTE + "/award_emoji/{award_id}", delete_award),
)
