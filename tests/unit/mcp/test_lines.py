"""Messages travel as lines, whatever else a server prints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types.jsonrpc import JSONRPCRequest

from patchwright.integrations.mcp.transports import read_line, write_line


@pytest.mark.parametrize(
    "line", ["", "Listening...", "{", "[]", "{}", "null", '{"jsonrpc": "1.0"}', "\x00"]
)
def test_what_is_no_message_is_none(line: str) -> None:
    assert read_line(line) is None


@given(st.text())
def test_a_message_is_one_line_and_comes_back(text: str) -> None:
    message = JSONRPCRequest(
        jsonrpc="2.0", id=1, method="tools/call", params={"text": text}
    )
    line = write_line(message)
    assert "\n" not in line
    assert read_line(line) == message
