"""The demo says what happens from its first second, and shows no dead link."""

import os
import re
import subprocess
import sys

import pytest

from patchwright.core.settings.environment import process_environment
from tests.architecture.tree import ROOT

LIMIT_S = 400
pytestmark = [pytest.mark.long, pytest.mark.timeout(LIMIT_S)]

STAGES = """\
Patchwright demo: a mention on an emulated GitHub becomes a proven pull request.
Nothing leaves this machine.
Sandbox: SANDBOX
Model: a recording, replayed; set LLM_MODEL and LLM_API_KEY to use a real one
Starting `patchwright serve`
The service is ready
alice opens issue #1 in acme/shop
GitHub sends the signed webhook; the service answers 202
The run has started: the bot comments on the issue
The run has ended"""


def test_without_a_terminal_it_tells_each_stage_and_ends_by_itself() -> None:
    environment = {
        name: value
        for name, value in process_environment().items()
        if not name.startswith(("LLM_", "PATCHWRIGHT_"))
    }
    done = subprocess.run(
        [sys.executable, "-m", "demo"],
        cwd=ROOT,
        env={**environment, "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == os.EX_OK, done.stdout + done.stderr
    said = re.sub(r"Sandbox: .*", "Sandbox: SANDBOX", done.stdout)
    first = said.splitlines()[:2]
    stages = re.findall(r"^ *\d+ s  (.*?) *$", said, re.MULTILINE)
    assert "\n".join([*first, *stages]) == STAGES
    assert "Pull request #2: Charge every piece of a line in the cart total" in said
    # The emulated GitHub and the service have ended.
    assert "http://" not in said
