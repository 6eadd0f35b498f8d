"""A server in the sandbox brings its tools, and answers calls."""

from patchwright.core.runtime import Runtime
from tests.adapters.mcp.serving import call, error, names, program, result, running


def test_the_tools_of_all_pages_are_offered(sandbox: Runtime) -> None:
    with running(sandbox, fake=program()) as servers:
        assert names(servers)[:4] == [
            "fake__echo",
            "fake__env",
            "fake__die",
            "fake__hang",
        ]
        assert len(names(servers)) == 15
        assert servers.faults() == ()


def test_a_tool_is_called_with_its_arguments(sandbox: Runtime) -> None:
    with running(sandbox, fake=program()) as servers:
        assert result(servers, "echo", text="grüße").text == "grüße"


def test_a_tool_whose_name_no_model_may_use_is_called_under_another(
    sandbox: Runtime,
) -> None:
    with running(sandbox, fake=program()) as servers:
        name = names(servers)[-1].removeprefix("fake__")
        assert name.startswith("odd_name_")
        assert result(servers, name, text="here").text == "here"


def test_only_the_listed_tools_are_offered(sandbox: Runtime) -> None:
    table = program(tools=("echo", "ecko"))
    with running(sandbox, fake=table) as servers:
        assert names(servers) == ["fake__echo"]
        [fault] = servers.faults()
        assert fault.startswith("MCP server fake: it has no tool 'ecko'; it has: 'ask'")
        assert error(servers, "hang").reason == "unknown-tool"


def test_variables_reach_the_server(sandbox: Runtime) -> None:
    with running(sandbox, fake=program(env={"CITY": "Reykjavik 1"})) as servers:
        assert result(servers, "env", name="CITY").text == "Reykjavik 1"


def test_what_fails_is_told_as_the_server_tells_it(sandbox: Runtime) -> None:
    with running(sandbox, fake=program()) as servers:
        failed = result(servers, "fail")
        assert (failed.text, failed.failed) == ("it rained", True)
        refused = error(servers, "refuse")
        assert refused.reason == "mcp-error"
        assert refused.text == "The MCP tool fake__refuse failed: no such city."


def test_what_is_no_text_is_named(sandbox: Runtime) -> None:
    with running(sandbox, fake=program()) as servers:
        assert result(servers, "picture").text == "a cat\n[image image/png, 12 kB]"
        assert result(servers, "structure").text == '{"n": 1}'


def test_a_long_answer_keeps_head_and_tail(sandbox: Runtime) -> None:
    with running(sandbox, fake=program()) as servers:
        text = result(servers, "long").text
    assert len(text) <= 20_000
    assert text.startswith("head xxx")
    assert text.endswith("xxx tail")
    assert "characters cut" in text


def test_servers_work_side_by_side(sandbox: Runtime) -> None:
    with running(sandbox, one=program(), two=program(env={"A": "2"})) as servers:
        assert {tool.server for tool in servers.tools()} == {"one", "two"}
        assert getattr(call(servers, "env", "one", name="A"), "text", "") == "not set"
        assert getattr(call(servers, "env", "two", name="A"), "text", "") == "2"


def test_a_server_that_is_not_configured_is_an_error(sandbox: Runtime) -> None:
    with running(sandbox, fake=program()) as servers:
        answer = call(servers, "echo", "other")
    assert getattr(answer, "reason", "") == "unknown-tool"
