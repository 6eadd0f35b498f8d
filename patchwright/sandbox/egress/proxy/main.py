"""Start the proxy; this file is what Python runs when it is given the archive."""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import NamedTuple

from patchwright.sandbox.egress.proxy.gate import Gate, RefusalCounter, resolve
from patchwright.sandbox.egress.proxy.listener import (
    accept_connections,
    open_meeting,
    receive_listener,
)
from patchwright.sandbox.egress.proxy.rules import HostRule


class ProxySettings(NamedTuple):
    """The proxy's one command line argument, as JSON."""

    meeting: str
    lifetime_s: float
    rules: list[HostRule]
    opens_public: bool
    own: list[str]


def main() -> None:
    settings = _read_settings(sys.argv[1])
    _in_background(threading.Timer(settings.lifetime_s, os._exit, (0,)))
    gate = Gate(
        settings.rules,
        RefusalCounter(),
        resolve,
        opens_public=settings.opens_public,
        own=frozenset(settings.own),
    )
    # Before anything is answered: then the sandbox may call.
    meeting = open_meeting(settings.meeting)
    _in_background(
        threading.Thread(
            target=lambda: accept_connections(
                receive_listener(meeting, settings.meeting), gate
            ),
        )
    )
    for line in sys.stdin:
        _answer(line, gate.refusals)
    # The process that started it has ended: otherwise this stays open.
    os._exit(0)


def _read_settings(text: str) -> ProxySettings:
    read = json.loads(text)
    rules = [HostRule(*rule) for rule in read["rules"]]
    return ProxySettings(**{**read, "rules": rules})


def _answer(line: str, counter: RefusalCounter) -> None:
    """Answer the host; what a worker left half written when it died is no question."""
    try:
        question = json.loads(line)
        name = question["id"]
    except (ValueError, KeyError, TypeError):
        return
    answer = {"id": name, "result": {"kind": "tally", "refused": counter.counted()}}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _in_background(thread: threading.Thread) -> None:
    thread.daemon = True
    thread.start()


if __name__ == "__main__":
    main()
