"""What a tool answers becomes text."""

from typing import Any

import pytest
from mcp.types import CallToolResult

from patchwright.integrations.mcp.session import result_text


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "text", "text": "plain"}, "plain"),
        (
            {"type": "image", "data": "QUJD", "mimeType": "image/png"},
            "[image image/png, 3 bytes]",
        ),
        (
            {"type": "audio", "data": "A" * 8000, "mimeType": "audio/wav"},
            "[audio audio/wav, 6 kB]",
        ),
        (
            {"type": "resource_link", "name": "log", "uri": "file:///log"},
            "[link log: file:///log]",
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
            "[resource file:///a]\ninside",
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "QUJD"}},
            "[resource file:///b, of unknown type, 3 bytes]",
        ),
    ],
)
def test_each_kind_of_content_is_shown(block: dict[str, Any], text: str) -> None:
    assert result_text(answer(block)) == text


def test_several_contents_stand_below_each_other() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert result_text(answer(*blocks)) == "a\nb"


def test_structure_is_shown_where_there_is_nothing_else() -> None:
    structured = {"content": [], "structuredContent": {"grüße": [1]}}
    assert result_text(CallToolResult.model_validate(structured)) == '{"grüße": [1]}'


def answer(*blocks: dict[str, Any]) -> CallToolResult:
    return CallToolResult.model_validate({"content": list(blocks)})
