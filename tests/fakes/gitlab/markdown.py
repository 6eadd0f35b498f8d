"""What people write as HTML, with the references that GitLab knows.

https://docs.gitlab.com/user/markdown/
"""

import re
from html import escape
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from tests.fakes.gitlab.state import Project, World

_REFERENCE: Final = re.compile(
    r"(?<![\w&/!#])(?P<path>[\w.-]+(?:/[\w.-]+)+)?(?P<mark>[#!])(?P<iid>\d+)\b"
    r"|(?<![\w.])@(?P<name>[\w-](?:[\w.-]*[\w-])?)"
)
_FOLDERS: Final = {"#": "issues", "!": "merge_requests"}
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": True}).enable(
    ["table", "strikethrough"]
)
_SUGGESTION: Final = re.compile(r"suggestion(?::-(?P<above>\d+)\+(?P<below>\d+))?")
_TASK: Final = re.compile(r"^\[(?P<done>[ xX])\] ")
_RELATIVE_UPLOAD: Final = re.compile(r"/uploads/[0-9a-f]{32}/")


def html_of(world: World, project: Project, text: str) -> Markup:
    """Render Markdown; its own HTML stays, but comments don't show.

    `#1` leads to an issue and `!1` to a merge request, also of another project.
    """
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        if token.type == "fence" and token.info.strip().startswith("suggestion"):
            _suggest(token)
        for place, child in enumerate(token.children or ()):
            if child.type == "text":
                _mark_task(child, is_first=place == 0)
                _link(world, project, child)
            elif child.type in {"image", "link_open"}:
                _place_upload(world, project, child)
    return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))


def _suggest(token: Token) -> None:
    """Show a suggestion as what it is: the lines that would stand there."""
    found = _SUGGESTION.match(token.info.strip())
    above = (found and found["above"]) or "0"
    below = (found and found["below"]) or "0"
    span = f"{above} above, {below} below"
    heading = f"<p class='suggestion'>Suggested change ({span})</p>"
    lines = escape(token.content)
    token.type = "html_block"
    token.content = f"{heading}<pre class='plus'><code>{lines}</code></pre>\n"


def _mark_task(token: Token, *, is_first: bool) -> None:
    """Show the box of a task, which GitLab makes of its brackets."""
    found = _TASK.match(token.content) if is_first else None
    if found is not None:
        box = "☑" if found["done"] != " " else "☐"
        token.content = f"{box} {token.content[found.end() :]}"


def _link(world: World, project: Project, token: Token) -> None:
    def target(match: re.Match[str]) -> str:
        shown = match[0]
        if (name := match["name"]) is not None:
            if world.find_user(name) is None:
                return shown
            return f'<a href="{world.base_url}/{name}">{shown}</a>'
        path = match["path"] or project.path
        if world.find_project(path) is None:
            return shown
        folder = _FOLDERS[match["mark"]]
        url = f"{world.base_url}/{path}/-/{folder}/{match['iid']}"
        return f'<a href="{url}">{shown}</a>'

    if _REFERENCE.search(token.content):
        token.content = _REFERENCE.sub(target, escape(token.content, quote=False))
        token.type = "html_inline"


def _place_upload(world: World, project: Project, token: Token) -> None:
    """Lead a file to its project, which it is written without."""
    name = "src" if token.type == "image" else "href"
    url = str(token.attrs.get(name, ""))
    if _RELATIVE_UPLOAD.match(url):
        token.attrs[name] = f"{world.base_url}/-/project/{project.id}{url}"
