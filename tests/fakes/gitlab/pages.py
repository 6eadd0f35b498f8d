"""The pages of a project as people see them: threads, differences, uploads.

They show the state of the world and change nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tests.fakes.differences import between, files_of, read_difference
from tests.fakes.github.exchange import Request
from tests.fakes.github.server import Wire
from tests.fakes.gitlab.diffs import diff_refs, merge_status
from tests.fakes.gitlab.markdown import html_of
from tests.fakes.gitlab.render.notes import is_resolvable
from tests.fakes.gitlab.state import Project, Visibility, World
from tests.fakes.gitlab.thread_state import Note, Thread, ThreadKind

_PAGE: Final = re.compile(
    r"/(?P<path>[\w.-]+(?:/[\w.-]+)+?)"
    r"(?:/-/(?P<kind>issues|work_items|merge_requests|commit|compare)/(?P<what>[^?#]+))?"
)
_UPLOAD: Final = re.compile(
    r"/(?:(?P<path>[^-].*?)|-/project/(?P<id>\d+))/uploads/(?P<secret>[0-9a-f]{32})/(?P<name>[^/]+)"
)
_SHA: Final = re.compile(r"[0-9a-f]{7,40}\Z")
# What people write may hold HTML, but no script of theirs runs.
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(
        [
            Path(__file__).with_name("templates"),
            Path(__file__).parents[1] / "github" / "templates",
        ]
    ),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True)
class _Said:
    """A note as it is shown; `emoji` are the names of what was awarded to it."""

    id: int
    author: str
    name: str
    is_bot: bool
    at: datetime
    html: Markup
    is_system: bool
    is_internal: bool
    is_edited: bool
    emoji: tuple[str, ...]


@dataclass(frozen=True)
class _Talk:
    """A discussion; `place` is the line that it is about, with its surroundings."""

    notes: tuple[_Said, ...]
    place: str
    excerpt: str
    can_resolve: bool
    is_resolved: bool


def serve(world: World, request: Request) -> Wire:
    """Show a page, a file, or that there is none."""
    upload = _UPLOAD.fullmatch(request.path)
    if upload is not None:
        return _serve_upload(world, upload)
    found = _PAGE.fullmatch(request.path.rstrip("/"))
    html = ""
    if found is not None and request.method == "GET":
        with world.lock:
            html = _show(world, found["path"], found["kind"], found["what"])
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": _POLICY,
        "Cache-Control": "no-store",
    }
    return Wire(200 if html else 404, headers, (html or "Not Found").encode())


def _serve_upload(world: World, found: re.Match[str]) -> Wire:
    """Give out a file of a public project; tokens count for nothing here.

    Others are sent to sign in, which only a browser can do.
    """
    with world.lock:
        upload = world.uploads.get(found["secret"])
        project = world.projects.get(upload.project) if upload else None
    if project is None or upload is None or upload.name != unquote(found["name"]):
        return Wire(404, {"Content-Type": "text/html"}, b"Not Found")
    if project.visibility is not Visibility.PUBLIC:
        return Wire(302, {"Location": f"{world.base_url}/users/sign_in"}, b"")
    return Wire(200, {"Content-Type": "application/octet-stream"}, upload.data)


def _show(world: World, path: str, kind: str | None, what: str | None) -> str:
    """Return a page, or nothing where there is none.

    Nobody is signed in here, but what is private is shown all the same: the pages are
    for those who look at what a test has made.
    """
    project = world.find_project(path)
    if project is None:
        return ""
    match kind:
        case "issues" | "work_items":
            return _show_thread(world, project, ThreadKind.ISSUE, what or "")
        case "merge_requests":
            return _show_thread(world, project, ThreadKind.MERGE_REQUEST, what or "")
        case "commit" if _SHA.match(what or ""):
            shown = ("show", "--format=", "--end-of-options", what or "")
            return _show_difference(world, project, f"Commit {what}", shown)
        case "compare":
            base, _, head = (what or "").partition("...")
            command = between(base, head)
            return _show_difference(world, project, f"{base} to {head}", command)
        case None:
            threads = [
                one for one in world.threads.values() if one.project == project.id
            ]
            threads.sort(key=lambda one: one.created_at, reverse=True)
            return _render(world, "project.html", project, threads=threads)
        case _:
            return ""


def _show_thread(world: World, project: Project, kind: ThreadKind, what: str) -> str:
    number, _, tab = what.partition("/")
    if not number.isdigit():
        return ""
    thread = world.find_thread(project.id, kind, int(number))
    if thread is None:
        return ""
    facts: dict[str, object] = {
        "thread": thread,
        "author": world.users[thread.author],
        "description": html_of(world, project, thread.description),
        "emoji": _emoji(world, thread.id),
        "assignees": [world.users[one].username for one in thread.assignees],
        "milestone": world.milestones.get(thread.milestone or 0),
        "labels": [world.labels[project.id, name] for name in thread.labels],
        "merge": None,
        "files": None,
        "talks": [],
    }
    if thread.merge is not None:
        facts |= _merge_facts(world, thread)
    if tab == "diffs" and thread.merge is not None:
        refs = diff_refs(world, thread)
        command = between(refs.base_sha, refs.head_sha) if refs else ("diff",)
        facts["files"] = files_of(read_difference(project.git, command) or "")
    else:
        facts["talks"] = list(_talks(world, project, thread))
    return _render(world, "thread.html", project, **facts)


def _merge_facts(world: World, thread: Thread) -> dict[str, object]:
    merge = thread.proposed
    pipeline = None
    refs = diff_refs(world, thread)
    if refs is not None:
        pipeline = world.builds.newest_for(merge.source_project, refs.head_sha)
    return {
        "merge": merge,
        "source": world.projects[merge.source_project],
        "status": merge_status(world, thread).detailed,
        "reviewers": [world.users[one].username for one in merge.reviewers],
        "approved_by": [
            world.users[one.user].username
            for one in world.approvals
            if one.thread == thread.id
        ],
        "pipeline": world.builds.status_of(pipeline) if pipeline else None,
    }


def _talks(world: World, project: Project, thread: Thread) -> Iterator[_Talk]:
    grouped: dict[str, list[Note]] = {}
    for note in world.notes_of(thread):
        grouped.setdefault(note.discussion, []).append(note)
    for notes in grouped.values():
        first = notes[0]
        yield _Talk(
            notes=tuple(_said(world, project, one) for one in notes),
            place=_place(first),
            excerpt=_excerpt(project, first),
            can_resolve=is_resolvable(world, first),
            is_resolved=all(one.resolved_at is not None for one in notes),
        )


def _said(world: World, project: Project, note: Note) -> _Said:
    author = world.users[note.author]
    return _Said(
        id=note.id,
        author=author.username,
        name=author.name,
        is_bot=author.is_bot,
        at=note.created_at,
        html=html_of(world, project, note.body),
        is_system=note.system,
        is_internal=note.internal,
        is_edited=note.edited_by is not None,
        emoji=_emoji(world, note.id),
    )


def _emoji(world: World, awardable: int) -> tuple[str, ...]:
    return tuple(f":{one.name}:" for one in world.awards_on(awardable))


def _place(note: Note) -> str:
    place = note.position
    if place is None:
        return ""
    last = place.new_line or place.old_line
    first = place.start_new or place.start_old
    lines = f"lines {first} to {last}" if first else f"line {last}"
    side = "" if place.new_line else " of the version before"
    return f"{place.new_path}, {lines}{side}"


def _excerpt(project: Project, note: Note) -> str:
    """Return the lines that a note is about, as they were when it was written."""
    place = note.position
    if place is None:
        return ""
    is_new = place.new_line is not None
    sha, path = place.base_sha, place.old_path
    if is_new:
        sha, path = place.head_sha, place.new_path
    text = read_difference(project.git, ("show", f"{sha}:{path}")) or ""
    last = place.new_line or place.old_line or 1
    first = (place.start_new if is_new else place.start_old) or last
    return "\n".join(text.splitlines()[first - 1 : last])


def _show_difference(
    world: World, project: Project, heading: str, command: tuple[str, ...]
) -> str:
    difference = read_difference(project.git, command)
    if difference is None:
        return ""
    files = files_of(difference)
    return _render(world, "commit.html", project, heading=heading, files=files)


def _render(world: World, template: str, project: Project, **facts: object) -> str:
    base = f"{world.base_url}/{project.path}"
    page = _TEMPLATES.get_template(template)
    return page.render(project=project, base=base, root=world.base_url, **facts)
