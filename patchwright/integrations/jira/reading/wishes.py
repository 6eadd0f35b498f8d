"""Find out what was asked of us by what was done to a ticket."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from patchwright.core.types.triggers import Ignored, Reading, TriggerKind
from patchwright.integrations.jira.listening import Listening
from patchwright.integrations.jira.reading.payloads import Person
from patchwright.integrations.jira.reading.scene import Scene
from patchwright.integrations.jira.reading.states import State
from patchwright.integrations.jira.reading.words import (
    find_plain_request,
    find_rich_request,
)

# What is put on a ticket so soon after it was made belongs to the making of it. A
# delivery shows the ticket as it is when it is sent, so that both may tell of it.
SOON: Final = timedelta(seconds=10)
FIRST: Final = "first"


@dataclass(frozen=True, slots=True)
class Act:
    """Something that somebody did to a ticket; `id` tells it from the next such."""

    id: str
    person: Person | None
    before: State
    after: State


def name_act(act_id: str, moment: datetime, created: datetime | None) -> str:
    """Return the name of an act on a ticket that was created then."""
    is_first = created is not None and moment - created <= SOON
    return FIRST if is_first else act_id


def read_act(scene: Scene, act: Act) -> Reading:
    """Return the one request of an act: words before a label, that before a person.

    Whoever creates a ticket with a mention, the label and us as its assignee wants one
    thing, and the words say what.
    """
    found = _find_request(act, scene.listening)
    if found is None:
        return Ignored(reason="no-request")
    if scene.is_own(act.person):
        return Ignored(reason="own-act")
    if act.person is None or not act.person.ids:
        return Ignored(reason="nobody")
    kind, request = found
    # The texts of a ticket ask once; labels and assignments can be done anew.
    name = "body" if kind is TriggerKind.BODY_MENTION else f"{kind}:{act.id}"
    name = f"issue:{scene.issue.id}:{name}"
    return scene.trigger(name, kind, act.person, request=request)


def _find_request(act: Act, listening: Listening) -> tuple[TriggerKind, str] | None:
    request = _find_words(act.after, listening)
    if request is not None and _find_words(act.before, listening) is None:
        return TriggerKind.BODY_MENTION, request
    added = act.after.labels - act.before.labels
    if listening.label and listening.label in added:
        return TriggerKind.LABEL, ""
    if _is_ours(act.after, listening) and not _is_ours(act.before, listening):
        return TriggerKind.ASSIGNMENT, ""
    return None


def _find_words(state: State, listening: Listening) -> str | None:
    request = find_rich_request(state.description, listening)
    if request is not None:
        return request
    return find_plain_request(state.summary, listening)


def _is_ours(state: State, listening: Listening) -> bool:
    return not state.assignee.isdisjoint(listening.own_ids)
