"""Every text that a person can see, and where it stands.

From the product's code that is each string with words in it, and the docstrings of
the commands, which are their help. Strings that only a model or a program reads are
left out by file, each with a reason; a new file is seen from the start. From pages,
templates and the Action it is the text between the markup.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from typing import Any

import yaml
from markdown_it import MarkdownIt

from tests.architecture.tree import ROOT, Module, modules, project_files

# What stands where code or a value was: it counts as one word, and has no meaning.
PLACEHOLDER = "X"
# No person reads the strings of these; folders end in a slash.
FOR_MODELS_AND_PROGRAMS = {
    "patchwright/core/agent/tools.py": "what the model is told of its tools",
    "patchwright/core/condense/": "what stands for earlier events, for the model",
    "patchwright/core/knowledge/": "what the model finds in the repository",
    "patchwright/core/llm/text_form.py": "how a model writes calls as text",
    "patchwright/resolver/context/brief.py": "what the model is told of its task",
    "patchwright/resolver/context/change_sections.py": "the same",
    "patchwright/resolver/context/sandbox_facts.py": "the same",
    "patchwright/resolver/context/thread_history.py": "the same",
    "patchwright/resolver/context/thread_sections.py": "the same",
    "patchwright/resolver/proof/advice.py": "what the model is told of its proof",
}
WORDS = re.compile(r"[A-Za-z]{2,}[,:;]? \S|^[A-Z][a-z]+$")
# Patterns, scripts, queries: no sentence has any of these.
NO_WORDS = re.compile(r"\\[bdsSwWZ.]|\(\?|\$[A-Z(\"]|\{\n|\n\s*\}|>&|&&|;;|\|\|")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
TEMPLATE_COMMENT = re.compile(r"{#.*?#}", re.DOTALL)
TEMPLATE_TAG = re.compile(r"{%.*?%}", re.DOTALL)
TEMPLATE_VALUE = re.compile(r"{{.*?}}", re.DOTALL)
SHOWN_ATTRIBUTES = {"alt", "aria-label", "placeholder", "title"}
UNSHOWN_ELEMENTS = {"code", "pre", "script", "style"}
HELP_OF_MAKE = re.compile(r"^[a-z-]+:.*?## (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class ShownText:
    """A text without the code in it; `place` is `file:line`, or the file alone."""

    place: str
    text: str

    @property
    def file(self) -> str:
        return self.place.partition(":")[0]


@cache
def messages() -> tuple[ShownText, ...]:
    """Return what the product shows: strings, templates, the Action's descriptions."""
    found: list[ShownText] = []
    for module in modules("patchwright/"):
        if not _is_for_nobody(module.name):
            found += texts_of_module(module)
    for name in project_files():
        if name.startswith("patchwright/") and name.endswith(".html"):
            found += texts_of_template(name, (ROOT / name).read_text())
    found += texts_of_action("action.yml", (ROOT / "action.yml").read_text())
    return tuple(found)


@cache
def pages() -> tuple[ShownText, ...]:
    """Return the prose of README, changelog and docs, and the help of `make`."""
    found = [
        ShownText("Makefile", text)
        for text in HELP_OF_MAKE.findall((ROOT / "Makefile").read_text())
    ]
    for name in project_files():
        if name.endswith(".md") and (name.startswith("docs/") or "/" not in name):
            found += texts_of_page(name, (ROOT / name).read_text())
    return tuple(found)


def texts_of_module(module: Module) -> list[ShownText]:
    """Return the strings that have words, with a placeholder for each value."""
    silent = _silent_nodes(module)
    return [
        ShownText(f"{module.name}:{line}", CODE.sub(PLACEHOLDER, text))
        for line, text in _strings(module, silent)
        if WORDS.search(text) and not NO_WORDS.search(text)
    ]


def texts_of_template(name: str, html: str) -> list[ShownText]:
    html = TEMPLATE_COMMENT.sub("", html)
    reader = _TemplateReader()
    reader.feed(TEMPLATE_VALUE.sub(PLACEHOLDER, TEMPLATE_TAG.sub("\n\n", html)))
    reader.end_block()
    return [ShownText(name, text) for text in reader.texts if WORDS.search(text)]


def texts_of_action(name: str, text: str) -> list[ShownText]:
    return [
        ShownText(name, CODE.sub(PLACEHOLDER, one))
        for one in _descriptions(yaml.safe_load(text))
    ]


def texts_of_page(name: str, text: str) -> list[ShownText]:
    """Return paragraphs, items and cells, each as one line."""
    found = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "inline" and token.map:
            parts = [
                _inline_text(child.type, child.content)
                for child in token.children or ()
            ]
            found.append(ShownText(f"{name}:{token.map[0] + 1}", "".join(parts)))
    return found


def _is_for_nobody(name: str) -> bool:
    return any(
        name == known or (known.endswith("/") and name.startswith(known))
        for known in FOR_MODELS_AND_PROGRAMS
    )


def _strings(module: Module, silent: set[int]) -> Iterator[tuple[int, str]]:
    for node in module.nodes:
        match node:
            case ast.JoinedStr(values=values, lineno=line):
                yield line, "".join(map(_part, values))
            case ast.Constant(value=str(text), lineno=line) if id(node) not in silent:
                yield line, text
            case _:
                pass


def _part(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case _:
            return PLACEHOLDER


def _silent_nodes(module: Module) -> set[int]:
    """Return the docstrings that are no help, and the parts of joined strings."""
    silent: set[int] = set()
    for node in module.nodes:
        match node:
            case ast.JoinedStr(values=values):
                silent.update(map(id, values))
            case ast.Module() | ast.ClassDef():
                silent.update(_docstring(node.body))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if not _is_command(node):
                    silent.update(_docstring(node.body))
            case _:
                pass
    return silent


def _docstring(body: list[ast.stmt]) -> list[int]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str()) as text), *_]:
            return [id(text)]
        case _:
            return []


def _is_command(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether a decorator such as `app.command("resolve")` shows the docstring."""
    return any(
        isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr in {"command", "callback"}
        for one in node.decorator_list
    )


def _inline_text(kind: str, content: str) -> str:
    match kind:
        case "text":
            return content
        case "softbreak" | "hardbreak":
            return " "
        case "code_inline":
            return PLACEHOLDER
        case _:
            return ""


def _descriptions(node: Any) -> Iterator[str]:
    """Yield what the Action says of itself, its inputs and its outputs."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in {"description", "name"} and isinstance(value, str):
                yield value
            else:
                yield from _descriptions(value)
    elif isinstance(node, list):
        for one in node:
            yield from _descriptions(one)


class _TemplateReader(HTMLParser):
    """Collects the texts of blocks, and of attributes that are shown."""

    inline = {"a", "b", "br", "code", "em", "kbd", "span", "strong", "time"}

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._block = ""
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.texts += [
            value for key, value in attrs if key in SHOWN_ATTRIBUTES and value
        ]
        if tag not in self.inline:
            self.end_block()
        if tag in UNSHOWN_ELEMENTS:
            self._block += PLACEHOLDER if tag == "code" else ""
            self._hidden += 1

    def handle_endtag(self, tag: str) -> None:
        if tag in UNSHOWN_ELEMENTS:
            self._hidden -= 1
        if tag not in self.inline:
            self.end_block()

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            before, *after = re.split(r"\n\s*\n", data)
            self._block += before
            for part in after:
                self.end_block()
                self._block += part

    def end_block(self) -> None:
        self.texts += [text] if (text := " ".join(self._block.split())) else []
        self._block = ""
