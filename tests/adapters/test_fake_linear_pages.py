"""The page of an issue in the fake Linear, as people read it."""

import re
from collections.abc import Iterator
from html import unescape

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.linear.client import of_app, send
from tests.fakes.linear.fake import FakeLinear


@pytest.fixture
def linear() -> Iterator[FakeLinear]:
    with FakeLinear(clock=FakeClock()) as fake:
        fake.add_team("ENG", "Engineering")
        yield fake


def read(linear: FakeLinear, key: str) -> str:
    """Return the words of a page, a line for each line of it that has any."""
    status, headers, body = send("GET", linear.page(key))
    assert status == 200
    assert "default-src 'none'" in headers["content-security-policy"]
    _, _, shown = body.decode().partition("<body>")
    lines = (re.sub(r"<[^>]+>", "", line).strip() for line in shown.splitlines())
    return "\n".join(" ".join(unescape(line).split()) for line in lines if line)


PAGE = """\
Wrong sum ENG-1
Todo
Bug creator: Ann Lee
It is <b>off</b> by one.
Links
https://github.com/acme/shop/issues/4
Activity
Ann Lee 12:00:00
@patchwright fix it
Patchwright active
Run
● Read
◐ Write
action · 12:00:00
Ran make test
All passed.
elicitation, signal: select · 12:00:00
Cents or euros?
Cents euros
thought, ephemeral · 12:00:00
Waiting."""


def test_a_page_shows_the_talk_and_the_agent_at_work(linear: FakeLinear) -> None:
    ann = linear.add_user("ann", "Ann Lee")
    key = linear.create(
        "ENG", ann, "Wrong sum", "It is <b>off</b> by one.", labels=["Bug"]
    )
    linear.sync(key, ann, "https://github.com/acme/shop/issues/4")
    linear.comment(key, ann, "@patchwright fix it")
    session = linear.session(key).id
    program = of_app(linear)

    def act(content: dict[str, str], **more: object) -> None:
        asked = {"agentSessionId": session, "content": content, **more}
        assert not program.change("agentActivityCreate", asked).errors

    ran = {"type": "action", "action": "Ran", "parameter": "make test"}
    act({**ran, "result": "All passed."})
    program.ask(
        """mutation($id: String!, $input: AgentSessionUpdateInput!) {
          agentSessionUpdate(id: $id, input: $input) { success } }""",
        id=session,
        input={
            "externalUrls": [{"label": "Run", "url": "https://bot.example/1"}],
            "plan": [
                {"content": "Read", "status": "completed"},
                {"content": "Write", "status": "inProgress"},
            ],
        },
    )
    act(
        {"type": "elicitation", "body": "Cents or euros?"},
        signal="select",
        signalMetadata={
            "options": [{"label": "Cents", "value": "cents"}, {"value": "euros"}]
        },
    )
    act({"type": "thought", "body": "Waiting."}, ephemeral=True)
    assert read(linear, key) == PAGE


def test_nobody_speaks_html_in_linear(linear: FakeLinear) -> None:
    ann = linear.add_user("ann")
    key = linear.create("ENG", ann, "<i>Sum</i>", "<script>alert(1)</script>")
    body = send("GET", linear.page(key))[2].decode()
    assert "<script>" not in body
    assert "&lt;i&gt;Sum&lt;/i&gt;" in body


def test_what_is_not_there_has_no_page(linear: FakeLinear) -> None:
    ann = linear.add_user("ann")
    key = linear.create("ENG", ann, "Sum")
    assert send("GET", f"{linear.api_url}/globex/issue/{key}")[0] == 404
    assert send("GET", f"{linear.api_url}/acme/issue/ENG-9")[0] == 404
