"""The same text as wiki markup and as a document, as far as people's texts need it."""

import re
from collections.abc import Iterator
from typing import Any

from tests.fakes.jira.state import Body

Json = dict[str, Any]

_MENTION = re.compile(r"\[~accountid:([^\]]+)\]")
_CODE = re.compile(r"\{code(?::\w+)?\}\n?(.*?)\n?\{code\}", re.DOTALL)


def typed(wiki: str, *, is_cloud: bool) -> Body:
    """Return what somebody typed, as wiki markup."""
    return Body(wiki=wiki, adf=document(wiki) if is_cloud else None)


def document(wiki: str) -> Json:
    """Make paragraphs, code blocks and mentions of it."""
    content: list[Json] = []
    end = 0
    for match in _CODE.finditer(wiki):
        content += _paragraphs(wiki[end : match.start()])
        content.append(_code(match[1]))
        end = match.end()
    content += _paragraphs(wiki[end:])
    return {"type": "doc", "version": 1, "content": content}


def _code(text: str) -> Json:
    lines = [{"type": "text", "text": text}] if text else []
    return {"type": "codeBlock", "content": lines}


def _paragraphs(wiki: str) -> Iterator[Json]:
    for part in wiki.split("\n\n"):
        if part.strip():
            yield {"type": "paragraph", "content": list(_inline(part.strip("\n")))}


def _inline(line: str) -> Iterator[Json]:
    end = 0
    for match in _MENTION.finditer(line):
        yield from _lines(line[end : match.start()])
        yield {"type": "mention", "attrs": {"id": match[1], "text": f"@{match[1]}"}}
        end = match.end()
    yield from _lines(line[end:])


def _lines(text: str) -> Iterator[Json]:
    for number, line in enumerate(text.split("\n")):
        if number:
            yield {"type": "hardBreak"}
        if line:
            yield {"type": "text", "text": line}


def wiki_of(node: Json) -> str:
    """Return a document as wiki markup, without its tables and panels."""
    content = [wiki_of(child) for child in node.get("content", [])]
    match node.get("type"):
        case "doc":
            return "\n\n".join(content)
        case "text":
            return _marked(node)
        case "mention":
            return f"[~accountid:{node['attrs']['id']}]"
        case "hardBreak":
            return "\n"
        case "codeBlock":
            return f"{{code}}\n{''.join(content)}\n{{code}}"
        case "blockquote":
            body = "\n\n".join(content)
            return f"{{quote}}\n{body}\n{{quote}}"
        case "listItem" | "taskItem":
            return f"* {' '.join(content)}"
        case "paragraph" | "heading" | "tableHeader" | "tableCell":
            return "".join(content)
        case _:
            return "\n".join(content)


def _marked(node: Json) -> str:
    text: str = node["text"]
    for mark in node.get("marks", []):
        match mark["type"]:
            case "strong":
                text = f"*{text}*"
            case "code":
                text = f"{{{{{text}}}}}"
            case "link":
                text = f"[{text}|{mark['attrs']['href']}]"
            case _:
                pass
    return text


def nodes(node: Json) -> Iterator[Json]:
    """Yield a node and all below it."""
    yield node
    for child in node.get("content", []):
        yield from nodes(child)
