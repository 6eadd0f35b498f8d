"""The example of the page about the client is a program that works."""

import os
import re
import subprocess
import sys

from patchwright.core.events.observations import StateChanged
from patchwright.core.events.payload import AgentState, Source
from patchwright.resolver.messages.status import DeliveryResult
from tests.adapters.api.serving import READER, ApiSite
from tests.adapters.web.watching import DIFF, append, end_run
from tests.architecture.tree import ROOT
from tests.provision.waiting import wait_until
from tests.unit.resolver.endings import proven

EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)
PULL = "https://github.test/acme/shop/pull/12"


def test_the_example_waits_for_its_run_and_prints_the_result(
    lite_site: ApiSite,
) -> None:
    (example,) = EXAMPLE.findall((ROOT / "docs" / "client.md").read_text())
    environment = {
        "PATH": os.defpath,
        "PYTHONPATH": str(ROOT),
        "PATCHWRIGHT_URL": lite_site.url,
        "PATCHWRIGHT_TOKEN": READER,
    }
    with subprocess.Popen(
        [sys.executable, "-c", example],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        wait_until(lambda: bool(lite_site.dispatched), "the request", 30)
        (job_id,) = lite_site.dispatched
        lease = lite_site.world.claim(job_id)
        begun = StateChanged(state=AgentState.LOADING)
        append(lite_site.world, job_id, begun, source=Source.SYSTEM)
        result = DeliveryResult(branch="fix", pull_request_url=PULL)
        end_run(lite_site.world, lease, proven(), result)
        printed, said = program.communicate(timeout=30)
    assert said == ""
    assert printed == (
        f"1 state_changed\n2 outcome_reached\nresolved proven {PULL}\n{DIFF}\n"
    )


def test_the_example_says_why_it_did_not_start(lite_site: ApiSite) -> None:
    (example,) = EXAMPLE.findall((ROOT / "docs" / "client.md").read_text())
    environment = {
        "PATH": os.defpath,
        "PYTHONPATH": str(ROOT),
        "PATCHWRIGHT_URL": lite_site.url,
        "PATCHWRIGHT_TOKEN": "member-stranger",
    }
    ended = subprocess.run(
        [sys.executable, "-c", example],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr == (
        "not started: body.repository: there is no repository acme/shop, or you "
        "cannot read it\n"
    )
