"""Lines of a text that are orders to GitLab itself, carried out in its author's name.

https://docs.gitlab.com/user/project/quick_actions/
"""

import re
from dataclasses import dataclass
from typing import Any

from tests.fakes.gitlab.access import may_change
from tests.fakes.gitlab.acts import merges, threads
from tests.fakes.gitlab.state import World
from tests.fakes.gitlab.thread_state import Thread, ThreadKind

# What this server knows of them; any other line that looks alike is text.
NAMES = frozenset(
    {
        "approve",
        "assign",
        "close",
        "confidential",
        "draft",
        "label",
        "merge",
        "ready",
        "relabel",
        "reopen",
        "request_review",
        "title",
        "unassign",
        "unlabel",
    }
)
_LINE = re.compile(r"/(?P<name>[a-z_]+)(?:[ \t]+(?P<rest>.*?))?[ \t]*")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_LABELS = re.compile(r'~(?:"(?P<quoted>[^"]+)"|(?P<plain>[^\s~]+))')
_PEOPLE = re.compile(r"@(?P<name>[\w-](?:[\w.-]*[\w-])?)|(?P<me>\bme\b)")


@dataclass(frozen=True)
class Order:
    name: str
    rest: str


@dataclass(frozen=True)
class Read:
    """What is left of a text as text, and the orders that stood in it."""

    text: str
    orders: tuple[Order, ...]


def read_orders(text: str) -> Read:
    """Take the orders out of a text; what is code or a comment has none."""
    kept: list[str] = []
    orders: list[Order] = []
    fence = ""
    is_hidden = False
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark is not None and (not fence or line.strip() == fence):
            fence = "" if fence else mark[1]
        is_hidden = (is_hidden or "<!--" in line) and "-->" not in line
        found = None if fence or is_hidden else _LINE.fullmatch(line)
        if found is not None and found["name"] in NAMES:
            orders.append(Order(found["name"], found["rest"] or ""))
        else:
            kept.append(line)
    if not orders:
        return Read(text, ())
    return Read("\n".join(kept).strip(), tuple(orders))


def carry_out(
    world: World, thread: Thread, actor: int, orders: tuple[Order, ...]
) -> None:
    """Do what the author of the orders may do; the rest comes to nothing."""
    for order in orders:
        current = world.threads[thread.id]
        project = world.projects[current.project]
        if may_change(world, project, current, world.users[actor]):
            _do(world, current, actor, order)


def _do(world: World, thread: Thread, actor: int, order: Order) -> None:
    is_merge = thread.kind is ThreadKind.MERGE_REQUEST
    match order.name:
        case "close":
            threads.close(world, thread, actor)
        case "reopen":
            threads.reopen(world, thread, actor)
        case "approve" if is_merge:
            merges.approve(world, thread, actor)
        case "merge" if is_merge:
            merges.merge(world, thread, actor)
        case "request_review" if is_merge:
            _request_review(world, thread, actor, order.rest)
        case _:
            changes = _changes(world, thread, actor, order)
            threads.change(world, thread, actor, **changes)


def _changes(world: World, thread: Thread, actor: int, order: Order) -> dict[str, Any]:
    labels = {one["quoted"] or one["plain"] for one in _LABELS.finditer(order.rest)}
    people = _people(world, actor, order.rest)
    is_merge = thread.kind is ThreadKind.MERGE_REQUEST
    match order.name:
        case "label":
            return {"labels": (*thread.labels, *sorted(labels))}
        case "relabel":
            return {"labels": tuple(sorted(labels))}
        case "unlabel":
            kept = [one for one in thread.labels if labels and one not in labels]
            return {"labels": tuple(kept)}
        case "assign":
            return {"assignees": tuple(dict.fromkeys([*thread.assignees, *people]))}
        case "unassign":
            left = [one for one in thread.assignees if people and one not in people]
            return {"assignees": tuple(left)}
        case "title" if order.rest:
            return {"title": order.rest}
        case "confidential" if not is_merge:
            return {"confidential": True}
        case "draft" if is_merge and not thread.is_draft:
            return {"title": f"{merges.DRAFT}{thread.title}"}
        case "ready" if is_merge and thread.is_draft:
            return {"title": thread.title.partition(" ")[2]}
        case _:
            return {}


def _request_review(world: World, thread: Thread, actor: int, rest: str) -> None:
    """Ask for a review, also somebody who has given one already."""
    people = _people(world, actor, rest)
    for one in people:
        world.review_states[thread.id, one] = "unreviewed"
    reviewers = tuple(dict.fromkeys([*thread.proposed.reviewers, *people]))
    merges.change_merge(world, thread, actor, reviewers=reviewers)


def _people(world: World, actor: int, rest: str) -> list[int]:
    found = []
    for one in _PEOPLE.finditer(rest):
        user = world.users[actor] if one["me"] else world.find_user(one["name"])
        found += [user.id] if user else []
    return found
