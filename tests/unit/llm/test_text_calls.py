"""Calls are found in replies of every shape that real models write."""

import json
from time import process_time
from typing import Any

import pytest

from patchwright.core.llm.model import ToolSpec
from patchwright.core.llm.text_calls import CUT_OFF, TextReply, read_text_reply
from tests.unit.llm.text_tools import EDIT, FINISH, READ, SHELL, STATUS, WRITE

TOOLS = (SHELL, READ, WRITE, EDIT, FINISH, STATUS)
LS = [("shell", {"command": "ls"})]


def read(text: str, *, is_cut_off: bool = False) -> TextReply:
    return read_text_reply(text, TOOLS, is_cut_off=is_cut_off)


def calls_in(reply: TextReply) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in reply.calls]


SHAPES = {
    "as asked": '<call tool="shell">\n<arg name="command">ls</arg>\n</call>',
    "in one line": '<call tool="shell"><arg name="command">ls</arg></call>',
    "on lines of its own": (
        '<call tool="shell">\n<arg name="command">\nls\n</arg>\n</call>'
    ),
    "indented": ('  <call tool="shell">\n    <arg name="command">ls</arg>\n  </call>'),
    "single quotes": "<call tool='shell'>\n<arg name='command'>ls</arg>\n</call>",
    "no quotes": "<call tool=shell>\n<arg name=command>ls</arg>\n</call>",
    "upper case": '<CALL TOOL="shell">\n<ARG NAME="command">ls</ARG>\n</CALL>',
    "another case": '<call tool="Shell">\n<arg name="Command">ls</arg></call>',
    "no end of the call": '<call tool="shell">\n<arg name="command">ls</arg>\n',
    "no end at all": '<call tool="shell">\n<arg name="command">ls',
    "no end of the argument": '<call tool="shell">\n<arg name="command">ls</call>',
    "an end of another form": (
        '<call tool="shell">\n<arg name="command">ls</parameter>\n</invoke>'
    ),
    "in a fence": (
        '```xml\n<call tool="shell">\n<arg name="command">ls</arg>\n</call>\n```'
    ),
    "in a fence without an end": (
        '```\n<call tool="shell">\n<arg name="command">ls</arg>\n</call>'
    ),
    "JSON for arguments": '<call tool="shell">{"command": "ls"}</call>',
    "JSON in a fence": '<call tool="shell">\n```json\n{"command": "ls"}\n```\n</call>',
    "JSON with a wrapper": '<call tool="shell">{"arguments": {"command": "ls"}}</call>',
    "JSON with the name": (
        '<tool_call>\n{"name": "shell", "arguments": {"command": "ls"}}\n</tool_call>'
    ),
    "JSON alone": '{"name": "shell", "parameters": {"command": "ls"}}',
    "JSON alone in a fence": (
        '```json\n{"tool": "shell", "arguments": {"command": "ls"}}\n```'
    ),
    "function and parameter": (
        "<function=shell>\n<parameter=command>ls</parameter>\n</function>"
    ),
    "function in a tool call": (
        "<tool_call>\n<function=shell>\n<parameter=command>\nls\n</parameter>\n"
        "</function>\n</tool_call>"
    ),
    "invoke in a group": (
        '<function_calls>\n<invoke name="shell">\n<parameter name="command">ls'
        "</parameter>\n</invoke>\n</function_calls>"
    ),
    "a parameter with a type": (
        '<invoke name="shell"><parameter name="command" type="string">ls</parameter>'
        "</invoke>"
    ),
    "tags named like parameters": (
        '<call tool="shell">\n<command>ls</command>\n</call>'
    ),
    "attributes": '<call tool="shell" command="ls"></call>',
    "attributes, and no end": '<call tool="shell" command="ls" />',
    "the only argument without a name": '<call tool="shell">\nls\n</call>',
    "after thinking": (
        '<think>Should I write <call tool="status"></call>?</think>\n'
        '<call tool="shell"><arg name="command">ls</arg></call>'
    ),
    "after thinking that has no beginning": (
        'Hmm.</think>\n\n<call tool="shell"><arg name="command">ls</arg></call>'
    ),
    "with a result that it made up": (
        '<call tool="shell"><arg name="command">ls</arg></call>\n'
        '<result tool="shell">\na.py\n</result>\n'
        '<call tool="read"><arg name="path">a.py</arg></call>'
    ),
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_one_call_is_found_in_every_shape(text: str) -> None:
    reply = read(text)
    assert calls_in(reply) == LS
    assert reply.faults == {}
    assert "call" not in reply.prose


def test_what_is_said_around_calls_is_kept() -> None:
    reply = read(
        'I look first.\n\n```\n<call tool="status"/>\n```\n\nThen:\n'
        '<call tool="shell"><arg name="command">ls</arg></call>\nThat is all.'
    )
    assert calls_in(reply) == [("status", {}), *LS]
    assert reply.prose == "I look first.\n\n\n\nThen:\n\nThat is all."


def test_several_calls_keep_their_order_without_ends() -> None:
    reply = read(
        '<call tool="shell">\n<arg name="command">one</arg>\n'
        '<call tool="shell">\n<arg name="command">two</arg>\n'
    )
    assert calls_in(reply) == [
        ("shell", {"command": "one"}),
        ("shell", {"command": "two"}),
    ]


SCRIPT = """\
cat > page.html <<'EOF'
<arg name="x">not ours</arg> & "quotes" \\n {"json": [1, 2]}
</call>
EOF
python3 - <<'PY'
print('<call tool="shell">')
PY"""


def test_a_script_needs_no_escapes() -> None:
    reply = read(
        f'<call tool="shell">\n<arg name="command">\n{SCRIPT}\n</arg>\n</call>'
    )
    assert calls_in(reply) == [("shell", {"command": SCRIPT})]


@pytest.mark.parametrize(
    ("written", "content"),
    [
        ("\nx = 1\n", "x = 1\n"),
        ("\nx = 1\ny = 2\n", "x = 1\ny = 2\n"),
        ("\nx = 1\n\n", "x = 1\n\n"),
        ("\nx = 1\ny = 2", "x = 1\ny = 2"),
        ("\nx = 1\r\ny = 2\r\n", "x = 1\r\ny = 2\r\n"),
        ("\n    indented\n    ", "    indented\n"),
        ("x = 1", "x = 1"),
        ("", ""),
    ],
)
def test_a_file_ends_as_it_is_written(written: str, content: str) -> None:
    reply = read(
        f'<call tool="write">\n<arg name="path">\na.py\n</arg>\n'
        f'<arg name="content">{written}</arg>\n</call>'
    )
    assert calls_in(reply) == [("write", {"path": "a.py", "content": content})]


def test_lists_of_objects_are_written_piece_by_piece() -> None:
    reply = read(
        '<call tool="edit">\n<arg name="path">a.py</arg>\n'
        '<arg name="edits.0.old">\ndef f():\n    pass\n</arg>\n'
        '<arg name="edits.0.new">\ndef f():\n    return 1\n</arg>\n'
        '<arg name="edits[1].old">x</arg>\n<arg name="edits[1].new">y</arg>\n'
        '<arg name="edits.1.occurrence">2</arg>\n</call>'
    )
    edits = [
        {"old": "def f():\n    pass", "new": "def f():\n    return 1"},
        {"old": "x", "new": "y", "occurrence": 2},
    ]
    assert calls_in(reply) == [("edit", {"path": "a.py", "edits": edits})]


def test_lists_may_be_json_too() -> None:
    edits = [{"old": "x", "new": "y"}]
    reply = read(
        f'<call tool="edit"><arg name="path">a.py</arg>'
        f'<arg name="edits">{json.dumps(edits)}</arg></call>'
    )
    assert calls_in(reply) == [("edit", {"path": "a.py", "edits": edits})]


@pytest.mark.parametrize(
    "written",
    [
        '<arg name="test_commands">["pytest -q", "make"]</arg>',
        '<arg name="test_commands">\npytest -q\nmake\n</arg>',
        '<arg name="test_commands">\n- pytest -q\n- make\n</arg>',
        (
            '<arg name="test_commands.0">pytest -q</arg>'
            '<arg name="test_commands.1">make</arg>'
        ),
    ],
)
def test_a_list_of_texts_may_be_written_in_lines(written: str) -> None:
    reply = read(f'<call tool="finish"><arg name="summary">Done.</arg>{written}</call>')
    wanted = {"summary": "Done.", "test_commands": ["pytest -q", "make"]}
    assert calls_in(reply) == [("finish", wanted)]


@pytest.mark.parametrize(
    ("name", "written", "value"),
    [
        ("start_line", "12", 12),
        ("start_line", "\n12\n", 12),
        ("end_line", "null", None),
        ("end_line", "None", None),
        ("end_line", "40", 40),
        ("deep", "True", True),
        ("deep", "false", False),
        ("path", "12", "12"),
    ],
)
def test_values_have_the_type_that_the_tool_wants(
    name: str, written: str, value: object
) -> None:
    reply = read(f'<call tool="read"><arg name="{name}">{written}</arg></call>')
    assert calls_in(reply) == [("read", {name: value})]
    assert reply.faults == {}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            '<call tool="read"><arg name="start_line">twelve</arg></call>',
            "The argument `start_line` cannot be read: 'twelve' is no integer.",
        ),
        (
            (
                '<call tool="edit"><arg name="edits.0">x</arg>'
                '<arg name="edits.0.old">y</arg></call>'
            ),
            "The argument `edits.0` cannot be read: 'x' is no object.",
        ),
        (
            '<call tool="edit"><arg name="edits.9999999.old">y</arg></call>',
            "The argument `edits.9999999.old` cannot be read: its number is too large.",
        ),
    ],
)
def test_s60_an_unreadable_call_is_not_run(text: str, fault: str) -> None:
    assert read(text).faults == {0: fault}


def test_s60_a_call_that_the_output_limit_cut_off_is_not_run() -> None:
    text = '<call tool="write">\n<arg name="path">a</arg>\n<arg name="content">\nx'
    assert read(text, is_cut_off=True).faults == {0: CUT_OFF}
    assert read(text, is_cut_off=False).faults == {}


def test_a_cut_off_remark_after_a_whole_call_harms_nothing() -> None:
    text = '<call tool="shell"><arg name="command">ls</arg></call>\nAnd n'
    assert read(text, is_cut_off=True).faults == {}


@pytest.mark.parametrize(
    "text",
    [
        "Nothing to do.",
        "Use `ls <path>` and call it a day.",
        '{"just": "data"}',
        '{"name": "unknown", "arguments": {}}',
        "[1, 2]",
        "a < b > c",
        "",
    ],
)
def test_a_reply_without_calls_is_text(text: str) -> None:
    assert read(text) == TextReply(text, [], {})


def test_an_unknown_tool_is_a_call_all_the_same() -> None:
    reply = read('<call tool="dance"><arg name="style">tango</arg></call>')
    assert calls_in(reply) == [("dance", {"style": "tango"})]


def test_a_tool_without_a_schema_takes_texts() -> None:
    bare = ToolSpec(name="bare", description="", parameters={"type": "object"})
    reply = read_text_reply(
        '<call tool="bare"><arg name="n">1</arg></call>', [bare], is_cut_off=False
    )
    assert calls_in(reply) == [("bare", {"n": "1"})]


def test_a_call_is_found_in_any_number_of_wraps() -> None:
    inside = '<call tool="shell"><arg name="command">ls</arg></call>'
    assert calls_in(read("<tool_call>" * 10_000 + inside)) == LS


@pytest.mark.parametrize(
    "piece", ["<function=", '<call a="b" ', '<call "', "<tool_call>", "<call a"]
)
def test_a_long_reply_that_begins_many_calls_is_read_in_time(piece: str) -> None:
    begun = process_time()
    read(piece * (64_000 // len(piece)))
    assert process_time() - begun < 2.0
