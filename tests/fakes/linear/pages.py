"""The page of an issue as people see it: its words, its talk, its agents at work."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from tests.fakes.github.exchange import Request
from tests.fakes.github.server import Wire
from tests.fakes.linear import sessions
from tests.fakes.linear.state import (
    AgentActivity,
    AgentSession,
    Attachment,
    Comment,
    Issue,
    Label,
    User,
    WorkflowState,
    Workspace,
    World,
)

_PAGE: Final = re.compile(r"/(?P<key>[\w-]+)/issue/(?P<name>[A-Za-z0-9]+-\d+)(?:/.*)?")
_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
# Linear shows no HTML that people write.
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(
    ["table", "strikethrough"]
)
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STEP_SIGNS: Final = {
    "pending": "○",
    "inProgress": "◐",
    "completed": "●",
    "canceled": "⊘",
}


@dataclass(frozen=True)
class _Said:
    """A comment, with the answers to it and the sessions that live in its thread."""

    author: str
    is_app: bool
    at: datetime
    html: Markup
    is_edited: bool
    answers: tuple["_Said", ...]
    sessions: tuple["_Work", ...]


@dataclass(frozen=True)
class _Act:
    kind: str
    author: str
    at: datetime
    html: Markup
    is_ephemeral: bool
    signal: str
    options: tuple[str, ...]
    link: str


@dataclass(frozen=True)
class _Work:
    """A session; `status` is what people read of it."""

    agent: str
    status: str
    acts: tuple[_Act, ...]
    steps: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str], ...]


def is_page(request: Request) -> bool:
    return request.method == "GET" and _PAGE.fullmatch(request.path) is not None


def serve(world: World, request: Request) -> Wire:
    """Show the page of an address for which `is_page` holds."""
    match = _PAGE.fullmatch(request.path)
    html = _show(world, match["key"], match["name"].upper()) if match else ""
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": _POLICY,
        "Cache-Control": "no-store",
    }
    return Wire(200 if html else 404, headers, (html or "Not Found").encode())


def _show(world: World, key: str, name: str) -> str:
    sessions.age(world)
    try:
        issue = world.issue(name)
    except LookupError:
        return ""
    if world.get(Workspace, world.workspace_of(issue)).url_key != key:
        return ""
    parts = [one for one in world.comments(issue) if one.parent is None]
    return _TEMPLATES.get_template("issue.html").render(
        issue=issue,
        name=world.identifier(issue),
        state=world.get(WorkflowState, issue.state),
        labels=[world.get(Label, one) for one in issue.labels],
        people=list(_people(world, issue)),
        description=_html(issue.description),
        attachments=[one for one in world.all(Attachment) if one.issue == issue.id],
        said=[_said(world, one) for one in parts],
    )


def _people(world: World, issue: Issue) -> Iterator[tuple[str, str]]:
    for field in ("creator", "assignee", "delegate"):
        if person := getattr(issue, field):
            yield field, world.get(User, person).name


def _said(world: World, comment: Comment) -> _Said:
    user = world.get(User, comment.user) if comment.user else None
    answers = [one for one in world.all(Comment) if one.parent == comment.id]
    here = {comment.id, *(one.id for one in answers)}
    works = [one for one in world.all(AgentSession) if one.comment in here]
    # What a session says is shown with it, and not once more beside it.
    shown_within = {
        act.source_comment for one in works for act in world.activities(one)
    }
    author = (user.name if user else "Linear") if not comment.created_as else ""
    return _Said(
        author=author or f"{comment.created_as} (via {user.name if user else ''})",
        is_app=user is not None and user.app,
        at=comment.created,
        html=_html(comment.body),
        is_edited=comment.edited is not None,
        answers=tuple(
            _said(world, one) for one in answers if one.id not in shown_within
        ),
        sessions=tuple(_work(world, one) for one in works if not comment.parent),
    )


def _work(world: World, session: AgentSession) -> _Work:
    status = session.status
    if session.unresponsive and session.first_sign is None:
        status = "unresponsive"
    return _Work(
        agent=world.get(User, session.app_user).name,
        status=status,
        acts=tuple(_act(world, one) for one in world.activities(session)),
        steps=tuple(
            (_STEP_SIGNS[one["status"]], one["content"]) for one in session.plan or ()
        ),
        links=tuple((one["label"], one["url"]) for one in session.external_urls),
    )


def _act(world: World, act: AgentActivity) -> _Act:
    content, facts = act.content, act.signal_metadata or {}
    text = content.get("body")
    if text is None:
        text = f"**{content['action']}** `{content['parameter']}`"
        if content.get("result"):
            text += f"\n\n{content['result']}"
    options = facts.get("options") or ()
    return _Act(
        kind=str(content["type"]),
        author=world.get(User, act.user).name,
        at=act.created,
        html=_html(text),
        is_ephemeral=act.ephemeral,
        signal=act.signal or "",
        options=tuple(one.get("label") or one["value"] for one in options),
        link=str(facts.get("url", "")),
    )


def _html(text: str | None) -> Markup:
    return Markup(_MARKDOWN.render(text or ""))
