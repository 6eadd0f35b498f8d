"""Messages as lines of text.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
"""

from mcp.types.jsonrpc import JSONRPCMessage, jsonrpc_message_adapter


def read_line(line: str) -> JSONRPCMessage | None:
    """Return the message in a line, or None: servers print other things too."""
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None


def write_line(message: JSONRPCMessage) -> str:
    return message.model_dump_json(by_alias=True, exclude_unset=True)
