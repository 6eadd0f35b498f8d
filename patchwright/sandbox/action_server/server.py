"""Take the host's requests, see that each is carried out once, and answer."""

from __future__ import annotations

import os
import signal
import sys
from typing import Callable, Optional

from patchwright.sandbox.action_server.browsing import browse
from patchwright.sandbox.action_server.command import SendReply, Cancel
from patchwright.sandbox.action_server.configuration import Config
from patchwright.sandbox.action_server.editing import edit_file
from patchwright.sandbox.action_server.failure import ActionError
from patchwright.sandbox.action_server.hosts import TAKEN_OVER, HostRegistry
from patchwright.sandbox.action_server.ledger import IdempotencyTable
from patchwright.sandbox.action_server.line_programs import LinePrograms
from patchwright.sandbox.action_server.loop import EventLoop
from patchwright.sandbox.action_server.places import WorkspacePaths
from patchwright.sandbox.action_server.processes import (
    find_descendants,
    list_processes,
    send_signal,
)
from patchwright.sandbox.action_server.python_session import PythonSession
from patchwright.sandbox.action_server.reaching_out import reach_out
from patchwright.sandbox.action_server.reading import read_file
from patchwright.sandbox.action_server.searching import search_files
from patchwright.sandbox.action_server.shells import ShellSessions
from patchwright.sandbox.action_server.transfer import download, upload
from patchwright.sandbox.action_server.watching import watch_limits
from patchwright.sandbox.action_server.wire import (
    HostChannel,
    Reply,
    ServerRequest,
    error,
    parse,
)
from patchwright.sandbox.action_server.writing import write_file

Start = Callable[[ServerRequest, SendReply], Optional[Cancel]]

# These may run twice: they leave the same behind, or their host is the only one to ask.
UNRECORDED = frozenset(
    (
        *("hello", "cancel", "upload", "download", "reach_out"),
        *("pipe_open", "pipe_write", "pipe_read", "pipe_close"),
    )
)
FILE_ACTIONS = {
    "read_file": read_file,
    "write_file": write_file,
    "edit_file": edit_file,
    "upload": upload,
    "download": download,
}


class ActionServer:
    """Serves one host at a time; another may take over where the first was lost."""

    def __init__(self, config: Config, channel: HostChannel) -> None:
        self._config = config
        self._channel = channel
        self._loop = EventLoop()
        self._places = WorkspacePaths(config.workspace)
        self._places.create()
        self._pipes = LinePrograms(self._loop, config)
        self._hosts = HostRegistry()
        self._results = IdempotencyTable()
        self._running: dict[str, Cancel | None] = {}
        self._starts = self._list_starts()
        self._loop.watch_read(channel.read_fd, self._receive)
        self._loop.after(config.lifetime_s, self._exit)

    def serve(self) -> None:
        self._loop.run_forever()

    def _list_starts(self) -> dict[str, Start]:
        shells = ShellSessions(self._loop, self._config)
        watch_limits(self._loop, self._config, shells.stop_all, self._give_up)
        return {
            "run_command": shells.run,
            "control_command": shells.control,
            "run_ipython": PythonSession(self._loop, self._config).run,
            "search_files": self._search,
            "browse": self._browse,
            "hello": self._welcome,
            "reach_out": self._reach_out,
            "cancel": self._cancel,
            "pipe_open": self._pipes.open,
            "pipe_write": self._pipes.write,
            "pipe_read": self._pipes.read,
            "pipe_close": self._pipes.close,
        }

    def _receive(self) -> None:
        lines = self._channel.read_lines()
        if lines is None:
            self._exit()
        for line in lines or ():
            request = parse(line)
            if request is not None:
                self._accept(request)

    def _accept(self, request: ServerRequest) -> None:
        action_id = request.id
        if request.op != "hello" and not self._hosts.is_current(request):
            self._channel.send(action_id, TAKEN_OVER)
        elif request.op in UNRECORDED:
            self._start(request, lambda result: self._channel.send(action_id, result))
        elif self._results.begin(action_id):
            self._begin(request)
        else:
            is_running = action_id in self._running
            known = self._results.find(action_id, is_running=is_running)
            if known is not None:
                self._channel.send(action_id, known)

    def _begin(self, request: ServerRequest) -> None:
        action_id = request.id
        self._running[action_id] = None
        cancel = self._start(request, lambda result: self._answer(action_id, result))
        if action_id in self._running:
            self._running[action_id] = cancel

    def _answer(self, action_id: str, result: Reply) -> None:
        self._running.pop(action_id, None)
        self._results.finish(action_id, result)
        self._channel.send(action_id, result)

    def _start(self, request: ServerRequest, answer: SendReply) -> Cancel | None:
        try:
            return self._dispatch(request, answer)
        except ActionError as failure:
            answer(error(failure.reason, failure.text))
        except OSError as failure:
            answer(error("system", str(failure)))
        except Exception as fault:  # noqa: BLE001 - one action's fault must not end all
            sys.excepthook(*sys.exc_info())
            answer(error("internal", f"the action server failed: {fault!r}"))
        return None

    def _dispatch(self, request: ServerRequest, answer: SendReply) -> Cancel | None:
        if request.op in FILE_ACTIONS:
            answer(FILE_ACTIONS[request.op](self._places, request))
            return None
        start = self._starts.get(request.op)
        if start is None:
            raise ActionError("bad-request", f"there is no action {request.op!r}")
        return start(request, answer)

    def _search(self, request: ServerRequest, answer: SendReply) -> Cancel:
        return search_files(self._loop, self._places, request, answer)

    def _browse(self, request: ServerRequest, answer: SendReply) -> Cancel:
        return browse(self._loop, self._config, request, answer)

    def _welcome(self, request: ServerRequest, answer: SendReply) -> None:
        if self._hosts.welcome(request):
            self._pipes.close_all()
        elif not self._hosts.is_current(request):
            answer(TAKEN_OVER)
            return
        answer({"kind": "ready", "python": sys.version.split()[0]})

    def _reach_out(self, request: ServerRequest, answer: SendReply) -> None:
        answer(reach_out(request.text("meeting"), request.whole("port", 0)))

    def _cancel(self, request: ServerRequest, answer: SendReply) -> None:
        cancel = self._running.get(request.text("target"))
        if cancel is not None:
            cancel()
        answer({"kind": "called-off"})

    def _give_up(self, why: str) -> None:
        """End the sandbox; the worker hears these words with the news of its end."""
        sys.stderr.write(f"{why}\n")
        sys.stderr.flush()
        self._exit()

    def _exit(self) -> None:
        # With process 1 the kernel ends all others; elsewhere that is left to us.
        for process in find_descendants(os.getpid(), list_processes()):
            send_signal(process.pid, signal.SIGKILL)
        os._exit(0)
