"""A server over standard input and output, in the standard library alone.

Its arguments say how it behaves before anybody calls a tool: `silent`, `crash`,
`noisy`, `once` (it starts only the first time), `flat` and `large` (schemas). How it
behaves in a call is the business of its tools. It runs in sandboxes, from this file.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

HABITS = frozenset(sys.argv[1:])
MARK = Path("/tmp/fake-mcp-was-here")
PAGES = (
    ("echo", "env", "die"),
    ("hang", "refuse", "fail", "huge", "long"),
    ("flood", "chatter", "ask", "picture", "structure", "wrong", "odd.name"),
)
ASKED = ("sampling/createMessage", "elicitation/create", "roots/list")
QUESTIONS: dict[str, dict[str, Any]] = {
    "sampling/createMessage": {"messages": [], "maxTokens": 1},
    "elicitation/create": {
        "message": "who?",
        "requestedSchema": {"type": "object", "properties": {}},
    },
    "roots/list": {},
}


def main() -> None:
    if "crash" in HABITS:
        sys.exit("no configuration found")
    if "once" in HABITS and MARK.exists():
        sys.exit("only once")
    MARK.touch()
    for line in sys.stdin:
        if "noisy" in HABITS:
            write("Starting up...\n{ not json\n[]\n{}")
        if "silent" not in HABITS:
            answer(json.loads(line))


def answer(message: dict[str, Any]) -> None:
    if "id" not in message or "method" not in message:
        return
    match message["method"]:
        case "initialize":
            result: dict[str, Any] = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "fake", "version": "1"},
            }
            send(id=message["id"], result=result)
        case "tools/list":
            send(id=message["id"], result=page(message.get("params", {})))
        case "tools/call":
            call(message["id"], message["params"])
        case _:
            error = {"code": -32601, "message": "there is no such method"}
            send(id=message["id"], error=error)


def page(params: dict[str, Any]) -> dict[str, Any]:
    number = int(params.get("cursor", "0"))
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    names = PAGES[number]
    tools = [
        {"name": name, "description": f"Does {name}.", "inputSchema": schema}
        for name in names
    ]
    if "flat" in HABITS:
        tools.append({"name": "flat", "inputSchema": {"type": "string"}})
    if "large" in HABITS and number == 0:
        described = {"type": "object", "description": "x" * 30_000}
        tools.append({"name": "large", "inputSchema": described})
    following = {"nextCursor": str(number + 1)} if number + 1 < len(PAGES) else {}
    return {"tools": tools, **following}


def call(number: int, params: dict[str, Any]) -> None:
    arguments = params.get("arguments", {})
    match params["name"]:
        case "echo" | "odd.name":
            say(number, str(arguments.get("text", "")))
        case "env":
            there = os.environ  # noqa: TID251 - the question is what it holds
            say(number, there.get(str(arguments["name"]), "not set"))
        case "die":
            sys.exit("the disk is full")
        case "hang":
            return
        case "refuse":
            send(id=number, error={"code": -32602, "message": "no such city"})
        case "fail":
            content = [{"type": "text", "text": "it rained"}]
            send(id=number, result={"content": content, "isError": True})
        case "huge":
            say(number, "x" * 10_000_000)
        case "long":
            say(number, "head " + "x" * 100_000 + " tail")
        case "wrong":
            send(id=number, result={"content": "not a list"})
        case name:
            call_talkative(number, name)


def call_talkative(number: int, name: str) -> None:
    note = {"level": "info", "data": "still at it"}
    match name:
        case "flood":
            while True:
                send(method="notifications/message", params=note)
        case "chatter":
            for _ in range(2000):
                send(method="notifications/message", params=note)
            say(number, "done")
        case "ask":
            say(number, "; ".join(map(ask, ASKED)))
        case "picture":
            content: list[dict[str, Any]] = [
                {"type": "text", "text": "a cat"},
                {"type": "image", "data": "A" * 16_000, "mimeType": "image/png"},
            ]
            send(id=number, result={"content": content})
        case "structure":
            send(id=number, result={"content": [], "structuredContent": {"n": 1}})
        case _:
            send(id=number, error={"code": -32602, "message": f"no tool {name}"})


def ask(method: str) -> str:
    """Ask something of the client, and return what it says."""
    send(id=method, method=method, params=QUESTIONS[method])
    answered = json.loads(sys.stdin.readline())
    return str(answered["error"]["message"])


def say(number: int, text: str) -> None:
    send(id=number, result={"content": [{"type": "text", "text": text}]})


def send(**message: Any) -> None:
    write(json.dumps({"jsonrpc": "2.0", **message}))


def write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
