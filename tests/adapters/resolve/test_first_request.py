"""The first request of a run is small: it is paid for again with every step."""

import json

from pydantic import SecretStr

from patchwright.core.agent.agents import coder
from patchwright.core.agent.prompts import prompt
from patchwright.core.agent.tools import Toolbox
from patchwright.core.llm.client import LitellmModel
from patchwright.core.llm.model import ModelRequest, SystemText, UserText
from patchwright.core.llm.prices import ModelConfig
from patchwright.core.system.clock import SystemClock
from patchwright.resolver.context.brief import write_text_brief
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import call

SPECS = Toolbox(coder().tools_at(0, 1, recalls=True)).specs
MAX_BYTES = 12 * 1024
ISSUE = """\
`total([450], [3])` gives 450 where 1350 is expected. It seems to have come with 2.1:
in 2.0.4 the same call was right. We noticed since invoices of more than one piece were
too low, and first blamed the rounding, which is fine.

    >>> from cart import total
    >>> total([450], [3])
    450

Python 3.11 on Debian 12. Happens with every price, also with several positions.
"""


def test_prompt_tools_and_a_typical_issue_fit_into_twelve_kilobytes() -> None:
    task = write_text_brief("Invoices of several pieces are too low", ISSUE).text
    request = ModelRequest(
        messages=(SystemText(text=prompt("system")), UserText(text=task)), tools=SPECS
    )
    with FakeProvider([call("finish", summary="Done.")]) as provider:
        config = ModelConfig(
            model="openai/x",
            base_url=provider.base_url,
            api_key=SecretStr("sk-test"),
        )
        LitellmModel(config, SystemClock()).complete(request)
        [body] = provider.raw_requests
    assert len(body) <= MAX_BYTES
    sent = json.loads(body)
    assert len(sent["tools"]) == len(SPECS)
    assert sent["messages"][0]["content"] == prompt("system")
