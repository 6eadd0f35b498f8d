"""Take the host's requests, see that each is carried out once, and answer."""

from __future__ import annotations

import os
import signal
import sys

from patchwright.sandbox.action_server.command import Answer
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.editing import edit_file
from patchwright.sandbox.action_server.failure import ActionError
from patchwright.sandbox.action_server.ledger import Ledger
from patchwright.sandbox.action_server.loop import Loop
from patchwright.sandbox.action_server.places import Places
from patchwright.sandbox.action_server.processes import (
    find_descendants,
    list_processes,
    send_signal,
)
from patchwright.sandbox.action_server.reading import read_file
from patchwright.sandbox.action_server.searching import search_files
from patchwright.sandbox.action_server.shells import Shells
from patchwright.sandbox.action_server.transfer import download, upload
from patchwright.sandbox.action_server.wire import (
    Channel,
    Reply,
    Request,
    error,
    parse,
)
from patchwright.sandbox.action_server.writing import write_file

# These may run twice: they leave the same behind, and their results are large.
UNRECORDED = frozenset({"hello", "upload", "download"})
FILE_ACTIONS = {
    "read_file": read_file,
    "write_file": write_file,
    "edit_file": edit_file,
    "upload": upload,
    "download": download,
}


class Server:
    """Serves one host at a time; another may take over where the first was lost."""

    def __init__(self, config: Config, channel: Channel) -> None:
        self._channel = channel
        self._loop = Loop()
        self._places = Places(config.workspace)
        self._places.create()
        self._shells = Shells(self._loop, config)
        self._ledger = Ledger()
        self._running: set[str] = set()
        self._loop.watch_read(channel.read_fd, self._receive)
        self._loop.after(config.lifetime_s, self._exit)

    def serve(self) -> None:
        self._loop.run_forever()

    def _receive(self) -> None:
        lines = self._channel.read_lines()
        if lines is None:
            self._exit()
        for line in lines or ():
            request = parse(line)
            if request is not None:
                self._accept(request)

    def _accept(self, request: Request) -> None:
        action_id = request.id
        if request.op in UNRECORDED:
            self._carry_out(
                request, lambda result: self._channel.send(action_id, result)
            )
            return
        if self._ledger.begin(action_id):
            self._running.add(action_id)
            self._carry_out(request, lambda result: self._answer(action_id, result))
            return
        known = self._ledger.find(action_id, is_running=action_id in self._running)
        if known is not None:
            self._channel.send(action_id, known)

    def _answer(self, action_id: str, result: Reply) -> None:
        self._running.discard(action_id)
        self._ledger.finish(action_id, result)
        self._channel.send(action_id, result)

    def _carry_out(self, request: Request, answer: Answer) -> None:
        try:
            self._dispatch(request, answer)
        except ActionError as failure:
            answer(error(failure.reason, failure.text))
        except OSError as failure:
            answer(error("system", str(failure)))
        except Exception as fault:  # noqa: BLE001 - one action's fault must not end all
            sys.excepthook(*sys.exc_info())
            answer(error("internal", f"the action server failed: {fault!r}"))

    def _dispatch(self, request: Request, answer: Answer) -> None:
        if request.op == "run_command":
            self._shells.run(request, answer)
        elif request.op == "control_command":
            self._shells.control(request, answer)
        elif request.op == "search_files":
            search_files(self._loop, self._places, request, answer)
        elif request.op in FILE_ACTIONS:
            answer(FILE_ACTIONS[request.op](self._places, request))
        elif request.op == "hello":
            answer({"kind": "ready", "python": sys.version.split()[0]})
        else:
            raise ActionError("bad-request", f"there is no action {request.op!r}")

    def _exit(self) -> None:
        # With process 1 the kernel ends all others; elsewhere that is left to us.
        for process in find_descendants(os.getpid(), list_processes()):
            send_signal(process.pid, signal.SIGKILL)
        os._exit(0)
