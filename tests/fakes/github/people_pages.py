"""The pages of a repository as people see them: threads, pull requests, differences.

They show the state of the world and change nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from tests.fakes.differences import between, files_of, read_difference
from tests.fakes.github.exchange import Request
from tests.fakes.github.render.pulls import base_sha, head_sha
from tests.fakes.github.server import Wire
from tests.fakes.github.state import Issue, Repo, World

_PAGE: Final = re.compile(
    r"/(?P<repo>[\w.-]+/[\w.-]+)"
    r"(?:/(?P<kind>issues|pull|commit|compare)/(?P<what>[\w./-]+))?/?"
)
_FILES: Final = "/files"
_SHA: Final = re.compile(r"[0-9a-f]{7,40}\Z")
_REFERENCE: Final = re.compile(r"(?<![\w&/])#(\d+)\b")
# What people write may hold HTML, but no script of theirs runs.
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
)


@dataclass(frozen=True)
class _Text:
    author: str
    at: datetime
    html: Markup


def is_page(request: Request) -> bool:
    is_browser = "text/html" in request.headers.get("accept", "")
    return (
        is_browser
        and request.method == "GET"
        and _PAGE.fullmatch(request.path) is not None
    )


def serve(world: World, request: Request) -> Wire:
    """Show the page of an address for which `is_page` holds."""
    found = _PAGE.fullmatch(request.path)
    with world.lock:
        html = (
            _show(world, found["repo"], found["kind"], found["what"]) if found else ""
        )
    return page(html) if html else page("Not Found", 404)


def page(html: str, status: int = 200) -> Wire:
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": _POLICY,
        "Cache-Control": "no-store",
    }
    return Wire(status, headers, html.encode())


def _show(world: World, name: str, kind: str | None, what: str | None) -> str:
    """Return a page, or nothing where there is none."""
    if name.lower() not in world.repos:
        return ""
    repo = world.repo(name)
    if repo.private:
        # Nobody is signed in here.
        return ""
    match kind:
        case "issues" | "pull":
            return _show_thread(world, repo, what or "")
        case "commit" if _SHA.match(what or ""):
            command = ("show", "--format=", "--end-of-options", what or "")
            return _show_difference(repo, f"Commit {what}", command)
        case "compare":
            base, _, head = (what or "").partition("...")
            return _show_difference(repo, f"{base} to {head}", between(base, head))
        case None:
            issues = sorted(world.issues_of(name), key=lambda one: -one.number)
            return _render("repository.html", repo, issues=issues)
        case _:
            return ""


def _show_thread(world: World, repo: Repo, what: str) -> str:
    number = what.removesuffix(_FILES)
    issue = world.find_issue(repo.full_name, int(number)) if number.isdigit() else None
    if issue is None:
        return ""
    facts = {"issue": issue, "pull": issue.pull, "state": _state_of(issue)}
    if issue.pull is None or not what.endswith(_FILES):
        return _render("thread.html", repo, texts=[*_texts(world, issue)], **facts)
    command = between(base_sha(world, issue), head_sha(world, issue))
    difference = read_difference(repo.git, command)
    return _render("thread.html", repo, files=files_of(difference or ""), **facts)


def _show_difference(repo: Repo, heading: str, command: tuple[str, ...]) -> str:
    difference = read_difference(repo.git, command)
    if difference is None:
        return ""
    return _render("commit.html", repo, heading=heading, files=files_of(difference))


def _state_of(issue: Issue) -> str:
    if issue.pull and issue.pull.merged_at:
        return "Merged"
    if not issue.is_open:
        return "Closed"
    return "Draft" if issue.pull and issue.pull.draft else "Open"


def _texts(world: World, issue: Issue) -> Iterator[_Text]:
    yield _Text(issue.author, issue.created_at, _html(issue.repo, issue.body or ""))
    for one in world.comments_of(issue):
        yield _Text(one.author, one.created_at, _html(one.repo, one.body))


def _html(repo: str, text: str) -> Markup:
    """Render Markdown; `#1` leads to that issue or pull request."""
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        for child in token.children or ():
            if child.type == "text" and _REFERENCE.search(child.content):
                _link(child, repo)
    # Its HTML is not escaped, as on GitHub; `_POLICY` keeps scripts out.
    return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))


def _link(token: Token, repo: str) -> None:
    linked = escape(token.content, quote=False)
    token.content = _REFERENCE.sub(rf'<a href="/{repo}/issues/\1">#\1</a>', linked)
    token.type = "html_inline"


def _render(template: str, repo: Repo, **facts: object) -> str:
    return render(template, repo.full_name, **facts)


def render(template: str, repo: str = "", **facts: object) -> str:
    """Render a template; only the pages of a repository name one."""
    return _TEMPLATES.get_template(template).render(repo=repo, **facts)


_MARKDOWN: Final = MarkdownIt("commonmark", {"html": True}).enable(
    ["table", "strikethrough"]
)
