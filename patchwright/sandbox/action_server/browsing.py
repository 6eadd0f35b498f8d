"""Open a page in a process of its own, within the sandbox's own network."""

from __future__ import annotations

import os

from patchwright.sandbox.action_server.child import start_child
from patchwright.sandbox.action_server.command import SendReply, Cancel
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.errand import OneOffJob
from patchwright.sandbox.action_server.failure import ActionError
from patchwright.sandbox.action_server.loop import EventLoop
from patchwright.sandbox.action_server.program import plan_inside_program
from patchwright.sandbox.action_server.wire import ServerRequest, error

BROWSE_LIMIT_S = 30.0
# What `patchwright.sandbox.inside.page` writes its result to.
RESULT_FD = 3
SCHEMES = ("http://", "https://")
_BROWSE_FAILED = error("internal", "the page could not be read: the program for it failed")


def browse(loop: EventLoop, config: Config, request: ServerRequest, answer: SendReply) -> Cancel:
    """Answer with a page as text, or with an error once the time limit has passed."""
    url = request.text("url").strip()
    if not url.lower().startswith(SCHEMES):
        text = f"{url!r} cannot be opened: only http:// and https:// addresses can"
        raise ActionError("bad-request", text)
    limit_s = request.seconds("timeout_s", BROWSE_LIMIT_S)
    launch = plan_inside_program("page", [url, f"{limit_s:g}"], config)
    read_end, write_end = os.pipe()
    try:
        wires = {0: 0, 1: 0, 2: 0, RESULT_FD: write_end}
        pid = start_child(launch, config, wires, os.path.join(config.workspace, "home"))
    except OSError:  # too many processes
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    errand = OneOffJob(loop, pid, read_end, answer, _BROWSE_FAILED)
    too_late = f"{url} did not answer within {limit_s:g} s"
    errand.limit(limit_s, error("timed-out", too_late))
    return errand.cancel
